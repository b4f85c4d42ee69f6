import { expect, test } from 'vitest'
import { diffPolicies } from './policyChanges.ts'
import {
  createRule,
  type SavedPolicy,
  toPolicyDraft,
  toSavedPolicy,
  validatePolicyDraft,
  withRuleAt,
} from './policyDraft.ts'

const policy: SavedPolicy = {
  rules: [
    { id: 'a', effect: 'allow', kind: 'siwe', requester: 'agent', host: '127.0.0.1:4000', max_amount_micro_usd: null },
    { id: 'b', effect: 'deny', kind: 'x402.authorize', requester: '*', host: '*', max_amount_micro_usd: '250000' },
  ],
  confirm_above_micro_usd: '10000000',
  expiry_minutes: 10,
}

test('saves an unchanged policy as it was', () => {
  expect(toSavedPolicy(toPolicyDraft(policy))).toEqual(policy)
  expect(diffPolicies(policy, policy)).toEqual([])
})

test('names invalid fields and saves nothing', () => {
  const draft = toPolicyDraft(policy)
  const wrong = {
    ...draft,
    rules: [...draft.rules, { ...createRule('c'), host: 'https://x.org/', amount: 'ten' }],
    confirmAbove: '',
  }
  const faults = validatePolicyDraft(wrong)
  expect([...faults.rules.keys()]).toEqual(['c'])
  expect(faults.rules.get('c')).toEqual({ host: expect.stringContaining('host'), amount: expect.any(String) })
  expect(faults.confirmAbove).toContain('dollars')
  expect(toSavedPolicy(wrong)).toBeUndefined()
})

test('describes the changes of a save in sentences', () => {
  const draft = toPolicyDraft(policy)
  const [, second] = draft.rules
  if (!second) throw new Error('The policy has two rules.')
  const next = toSavedPolicy({
    rules: [{ ...second, amount: '0.5' }, createRule('c')],
    confirmAbove: '20',
    expiryMinutes: 1,
  })
  expect(next && diffPolicies(policy, next)).toEqual([
    { kind: 'removed', before: expect.stringContaining('127.0.0.1:4000') },
    { kind: 'added', after: 'Anything from anyone needs your approval.' },
    { kind: 'changed', before: 'Nobody may pay up to $0.25 anywhere.', after: 'Nobody may pay up to $0.50 anywhere.' },
    { kind: 'set', before: expect.stringContaining('$10.00'), after: expect.stringContaining('$20.00') },
    { kind: 'set', before: 'Requests expire after 10 minutes.', after: 'Requests expire after 1 minute.' },
  ])
})

test('moves a rule and reports the new order as a change', () => {
  const draft = toPolicyDraft(policy)
  const moved = { ...draft, rules: withRuleAt(draft.rules, 'b', 0) }
  expect(moved.rules.map(({ id }) => id)).toEqual(['b', 'a'])
  const saved = toSavedPolicy(moved)
  expect(saved && diffPolicies(policy, saved)).toEqual([{ kind: 'moved', after: expect.stringContaining('order') }])
})
