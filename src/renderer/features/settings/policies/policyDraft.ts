import { Policy, PolicyRule } from '#shared/contract/intents.ts'
import { formatUsdInput, parseUsd } from '#shared/money/moneyText.ts'

/** Rule being edited, with the amount as typed. */
export type RuleDraft = Omit<PolicyRule, 'max_amount_micro_usd'> & { amount: string }
export type PolicyDraft = { rules: RuleDraft[]; confirmAbove: string; expiryMinutes: number }
export type SavedPolicy = Omit<Policy, 'stopped'>

/** Errors of each rule by field, and of the threshold. */
export type DraftFaults = {
  rules: ReadonlyMap<string, { host?: string; amount?: string }>
  confirmAbove: string | undefined
}

const amountHint = 'Enter an amount in dollars, such as 5 or 0.25.'

export function toPolicyDraft(policy: SavedPolicy): PolicyDraft {
  return {
    rules: policy.rules.map(({ max_amount_micro_usd: maxAmount, ...rule }) => ({
      ...rule,
      amount: maxAmount === null ? '' : formatUsdInput(maxAmount),
    })),
    confirmAbove: formatUsdInput(policy.confirm_above_micro_usd),
    expiryMinutes: policy.expiry_minutes,
  }
}

export function createRule(id: string): RuleDraft {
  return { id, effect: 'ask', kind: '*', requester: '*', host: '*', amount: '' }
}

export function validatePolicyDraft(draft: PolicyDraft): DraftFaults {
  const rules = draft.rules.flatMap((rule) => {
    const host = PolicyRule.shape.host.safeParse(rule.host.trim()).error
    const amount = rule.amount.trim() !== '' && parseUsd(rule.amount) === undefined
    const faults = {
      ...(host && { host: 'Enter a host such as api.example.com:8443, *.example.com, or * for any.' }),
      ...(amount && { amount: amountHint }),
    }
    return host || amount ? [[rule.id, faults] as const] : []
  })
  return {
    rules: new Map(rules),
    confirmAbove: parseUsd(draft.confirmAbove) === undefined ? amountHint : undefined,
  }
}

/** Converts a draft to a rule as it would be saved. Invalid fields are treated as empty. */
export function toPolicyRule({ amount, ...rule }: RuleDraft): PolicyRule {
  return { ...rule, host: rule.host.trim() || '*', max_amount_micro_usd: parseUsd(amount) ?? null }
}

/** @returns undefined if the draft is invalid */
export function toSavedPolicy(draft: PolicyDraft): SavedPolicy | undefined {
  const faults = validatePolicyDraft(draft)
  if (faults.rules.size > 0 || faults.confirmAbove !== undefined) return undefined
  const parsed = Policy.omit({ stopped: true }).safeParse({
    rules: draft.rules.map(toPolicyRule),
    confirm_above_micro_usd: parseUsd(draft.confirmAbove),
    expiry_minutes: draft.expiryMinutes,
  })
  return parsed.data
}

export function withRuleAt(rules: readonly RuleDraft[], id: string, place: number): RuleDraft[] {
  const moved = rules.find((rule) => rule.id === id)
  return moved ? rules.filter((rule) => rule.id !== id).toSpliced(place, 0, moved) : [...rules]
}
