import { describeRule } from '#shared/contract/intentLabels.ts'
import { formatUsd } from '#shared/money/moneyText.ts'
import type { SavedPolicy } from './policyDraft.ts'

export type PolicyChange = { kind: 'added' | 'removed' | 'changed' | 'moved' | 'set'; before?: string; after?: string }

export function diffPolicies(from: SavedPolicy, to: SavedPolicy): PolicyChange[] {
  const before = new Map(from.rules.map((rule) => [rule.id, describeRule(rule)]))
  const after = new Map(to.rules.map((rule) => [rule.id, describeRule(rule)]))
  const added = [...after].flatMap(([id, sentence]) =>
    before.has(id) ? [] : [{ kind: 'added', after: sentence } as const],
  )
  const removed = [...before].flatMap(([id, sentence]) =>
    after.has(id) ? [] : [{ kind: 'removed', before: sentence } as const],
  )
  const changed = [...after].flatMap(([id, sentence]) => {
    const old = before.get(id)
    return old === undefined || old === sentence ? [] : [{ kind: 'changed', before: old, after: sentence } as const]
  })
  return [...removed, ...added, ...changed, ...orderChange(from, to), ...diffSettings(from, to)]
}

function orderChange(from: SavedPolicy, to: SavedPolicy): PolicyChange[] {
  const isSame = (a: SavedPolicy, b: SavedPolicy) =>
    a.rules.map(({ id }) => id).filter((id) => b.rules.some((rule) => rule.id === id))
  const same = isSame(from, to).join() === isSame(to, from).join()
  return same ? [] : [{ kind: 'moved', after: 'Rules are in a different order.' }]
}

function diffSettings(from: SavedPolicy, to: SavedPolicy): PolicyChange[] {
  const confirm = (policy: SavedPolicy) =>
    `Extra confirmation above ${formatUsd(policy.confirm_above_micro_usd, 'exact')}`
  const expiry = (policy: SavedPolicy) => `Requests expire after ${formatMinutes(policy.expiry_minutes)}`
  return [confirm, expiry].flatMap((words) =>
    words(from) === words(to) ? [] : [{ kind: 'set', before: `${words(from)}.`, after: `${words(to)}.` } as const],
  )
}

function formatMinutes(minutes: number): string {
  return minutes === 1 ? '1 minute' : `${minutes} minutes`
}
