import { expect, test } from 'vitest'
import { rule, withRules } from '#test/support/fixtures/approvals.ts'
import { describePolicyChange } from './describeConfirmation.ts'

const shop = rule({ id: 'shop', effect: 'allow', kind: 'x402.authorize', host: 'shop.example' })
const small = { ...shop, max_amount_micro_usd: '2000000' }
const evil = rule({ id: 'evil', effect: 'deny', host: 'evil.example' })

test.each([
  [
    'a new rule',
    withRules([]),
    withRules([small]),
    'You changed the policy: added “Anyone may pay up to $2.00 at shop.example without asking you”.',
  ],
  [
    'a rule that is gone',
    withRules([evil]),
    withRules([]),
    'You changed the policy: removed “Nobody may have anything signed for evil.example”.',
  ],
  [
    'another order',
    withRules([small, evil]),
    withRules([evil, small]),
    'You changed the policy: changed the order of the rules.',
  ],
  [
    'settings',
    withRules([]),
    { rules: [], confirm_above_micro_usd: '5000000', expiry_minutes: 1 },
    'You changed the policy: extra confirmation is now above $5.00, requests now expire after 1 minute.',
  ],
  ['nothing', withRules([evil]), withRules([evil]), 'You saved the policy without changes.'],
])('describes %s', (_, from, to, sentence) => {
  expect(describePolicyChange(from, to)).toBe(sentence)
})

test('describes three changes and counts the rest', () => {
  const many = Array.from({ length: 5 }, (_, index) =>
    rule({ id: `r${index}`, effect: 'deny', host: `h${index}.example` }),
  )
  expect(describePolicyChange(withRules([]), withRules(many))).toMatch(
    /^You changed the policy: (added “[^”]+”, ){3}2 more changes\.$/,
  )
})
