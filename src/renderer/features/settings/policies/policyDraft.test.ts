import { expect, test } from 'vitest'
import { policyChanges } from './policyChanges.ts'
import { draftOf, faultsOf, newRule, policyOf, type SavedPolicy, withRuleAt } from './policyDraft.ts'

const policy: SavedPolicy = {
  rules: [
    { id: 'a', effect: 'allow', kind: 'siwe', asker: 'agent', host: '127.0.0.1:4000', max_amount_micro_usd: null },
    { id: 'b', effect: 'deny', kind: 'x402.authorize', asker: '*', host: '*', max_amount_micro_usd: '250000' },
  ],
  confirm_above_micro_usd: '10000000',
  expiry_minutes: 10,
}

test('what is not touched is saved as it was', () => {
  expect(policyOf(draftOf(policy))).toEqual(policy)
  expect(policyChanges(policy, policy)).toEqual([])
})

test('names the field that is wrong, and saves nothing', () => {
  const draft = draftOf(policy)
  const wrong = {
    ...draft,
    rules: [...draft.rules, { ...newRule('c'), host: 'https://x.org/', amount: 'ten' }],
    confirmAbove: '',
  }
  const faults = faultsOf(wrong)
  expect([...faults.rules.keys()]).toEqual(['c'])
  expect(faults.rules.get('c')).toEqual({ host: expect.stringContaining('host'), amount: expect.any(String) })
  expect(faults.confirmAbove).toContain('dollars')
  expect(policyOf(wrong)).toBeUndefined()
})

test('tells in sentences what saving changes', () => {
  const draft = draftOf(policy)
  const [, second] = draft.rules
  if (!second) throw new Error('The policy has two rules.')
  const next = policyOf({ rules: [{ ...second, amount: '0.5' }, newRule('c')], confirmAbove: '20', expiryMinutes: 1 })
  expect(next && policyChanges(policy, next)).toEqual([
    { kind: 'removed', before: expect.stringContaining('127.0.0.1:4000') },
    { kind: 'added', after: 'Anything from anyone needs your approval.' },
    { kind: 'changed', before: 'Nobody may pay up to $0.25 anywhere.', after: 'Nobody may pay up to $0.50 anywhere.' },
    { kind: 'set', before: expect.stringContaining('$10.00'), after: expect.stringContaining('$20.00') },
    { kind: 'set', before: 'Requests expire after 10 minutes.', after: 'Requests expire after 1 minute.' },
  ])
})

test('a rule goes to another place, and the order is a change', () => {
  const draft = draftOf(policy)
  const moved = { ...draft, rules: withRuleAt(draft.rules, 'b', 0) }
  expect(moved.rules.map(({ id }) => id)).toEqual(['b', 'a'])
  const saved = policyOf(moved)
  expect(saved && policyChanges(policy, saved)).toEqual([{ kind: 'moved', after: expect.stringContaining('order') }])
})
