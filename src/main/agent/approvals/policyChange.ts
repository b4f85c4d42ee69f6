import { AppError } from '#shared/appError.ts'
import type { Policy, PolicyRule } from '#shared/contract/intents.ts'
import { isHostPattern } from './policyMatch.ts'

type Rules = Omit<Policy, 'stopped'>

/** @throws AppError `request/invalid` */
export function checkRules({ rules }: Rules): void {
  const ids = rules.map(({ id }) => id)
  const bad = ids.find((id, index) => id.trim() === '' || id.length > 64 || ids.indexOf(id) !== index)
  if (bad !== undefined) {
    throw new AppError(
      'request/invalid',
      `\`rules\` has the invalid id \`${bad.slice(0, 64)}\`. Each rule needs a unique id of 1 to 64 characters.`,
    )
  }
  const nowhere = rules.find(({ host }) => !isHostPattern(host))
  if (nowhere) {
    throw new AppError('request/invalid', `\`rules\` has the host \`${nowhere.host}\`, which is not a valid host.`)
  }
}

/**
 * Whether a change allows anything without asking that required approval before, or asks about something that was
 * denied. Conservative: may return true for an equivalent policy, but never false for a looser one. Every allowing rule
 * must have existed, and every asking or denying rule must remain, in the same order.
 */
export function isLooser(from: Rules, to: Rules): boolean {
  if (BigInt(to.confirm_above_micro_usd) > BigInt(from.confirm_above_micro_usd)) return true
  const before = new Map(from.rules.map((rule) => [rule.id, rule]))
  const after = new Map(to.rules.map((rule) => [rule.id, rule]))
  const keeps = (rule: PolicyRule): boolean => {
    const old = before.get(rule.id)
    return old !== undefined && (rule.effect === 'allow' ? isWithin(rule, old) : isAsStrict(rule, old))
  }
  if (to.rules.some((rule) => rule.effect === 'allow' && !keeps(rule))) return true
  const isRetained = ({ id }: PolicyRule): boolean => {
    const rule = after.get(id)
    return rule !== undefined && keeps(rule)
  }
  if (from.rules.some((rule) => rule.effect !== 'allow' && !isRetained(rule))) return true
  const lastDenial = to.rules.findLastIndex(({ effect }) => effect === 'deny')
  if (
    to.rules
      .slice(0, lastDenial + 1)
      .some((rule) => rule.effect === 'ask' && !requiresApproval(rule, before.get(rule.id)))
  ) {
    return true
  }
  const remaining = to.rules.filter(keeps).map(({ id }) => id)
  const order = from.rules.map(({ id }) => id).filter((id) => remaining.includes(id))
  return order.some((id, index) => id !== remaining[index])
}

/** Whether `rule` allows no more than `old`. */
function isWithin(rule: PolicyRule, old: PolicyRule): boolean {
  return old.effect === 'allow' && isSameButAmount(rule, old) && isAmountWithin(rule, old)
}

/** Whether `rule` restricts at least as much as `old`. */
function isAsStrict(rule: PolicyRule, old: PolicyRule): boolean {
  const denies = old.effect !== 'deny' || rule.effect === 'deny'
  return old.effect !== 'allow' && denies && isSameButAmount(rule, old) && isAmountWithin(old, rule)
}

/** Whether `rule` asks about the same requests as `old`, and no others. */
function requiresApproval(rule: PolicyRule, old: PolicyRule | undefined): boolean {
  return old?.effect === 'ask' && isSameButAmount(rule, old) && isAmountWithin(rule, old)
}

function isSameButAmount(a: PolicyRule, b: PolicyRule): boolean {
  return a.kind === b.kind && a.requester === b.requester && a.host === b.host
}

function isAmountWithin(
  { max_amount_micro_usd: amount }: PolicyRule,
  { max_amount_micro_usd: limit }: PolicyRule,
): boolean {
  return limit === null || (amount !== null && BigInt(amount) <= BigInt(limit))
}
