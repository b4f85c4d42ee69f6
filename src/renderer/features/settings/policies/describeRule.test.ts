import { expect, test } from 'vitest'
import { describeRule } from '#shared/contract/intentLabels.ts'
import type { PolicyRule } from '#shared/contract/intents.ts'
import { findRuleWarnings } from './describeRule.ts'

const base: PolicyRule = {
  id: 'rule',
  effect: 'allow',
  kind: 'siwe',
  requester: 'agent',
  host: '127.0.0.1:4000',
  max_amount_micro_usd: null,
}
const rule = (part: Partial<PolicyRule>): PolicyRule => ({ ...base, ...part })

test.each<[Partial<PolicyRule>, string]>([
  [{}, 'Steward itself may sign in with Ethereum to 127.0.0.1:4000 without asking you.'],
  [
    { kind: 'siws', host: '*', effect: 'ask', requester: 'tool' },
    'Tools may sign in with Solana to any site only with your approval.',
  ],
  [
    { kind: 'x402.authorize', host: '*.example.com', requester: 'client', max_amount_micro_usd: '5000000' },
    'Programs with an API key may pay up to $5.00 at any site below example.com without asking you.',
  ],
  [{ kind: 'x402.authorize', host: '*', requester: '*', effect: 'deny' }, 'Nobody may pay anywhere.'],
  [{ kind: '*', host: '*', requester: 'tool', effect: 'deny' }, 'Tools may never have anything signed.'],
  [{ kind: 'identity.register', host: '*', requester: 'person' }, 'You may register an identity without confirmation.'],
])('%j: %s', (part, sentence) => {
  expect(describeRule(rule(part))).toBe(sentence)
})

test('warns about rules that allow payments or sign-in anywhere', () => {
  expect(findRuleWarnings(rule({}), [])).toEqual([])
  expect(findRuleWarnings(rule({ kind: 'x402.authorize', host: '*' }), [])).toEqual([
    expect.stringContaining('extra-confirmation limit'),
  ])
  expect(findRuleWarnings(rule({ kind: '*', host: '*', requester: '*' }), [])).toHaveLength(2)
  expect(findRuleWarnings(rule({ kind: '*', host: '*', requester: '*', effect: 'ask' }), [])).toEqual([])
})

test('warns about rules that never match', () => {
  expect(findRuleWarnings(rule({ kind: 'message', requester: 'person' }), [])).toEqual([
    expect.stringContaining('have no host'),
  ])
  expect(findRuleWarnings(rule({ kind: 'message', requester: 'tool', host: '*' }), [])).toEqual([
    expect.stringContaining('Only you can sign'),
  ])
})

test('names the earlier rule that shadows a rule', () => {
  const wide = rule({ kind: '*', requester: '*', host: '*.example.com', effect: 'deny' })
  const hidden = (part: Partial<PolicyRule>) => findRuleWarnings(rule(part), [rule({ host: 'other.org' }), wide])
  expect(hidden({ host: 'api.example.com:8443' })).toEqual([expect.stringContaining('rule 2')])
  expect(hidden({ host: 'example.com' })).toEqual([])
  expect(findRuleWarnings(rule({ host: 'a.org:1' }), [rule({ host: 'a.org', effect: 'deny' })])).toHaveLength(1)
  expect(findRuleWarnings(rule({ host: 'a.org:1' }), [rule({ host: 'a.org' })])).toEqual([])
  const small = rule({ max_amount_micro_usd: '10' })
  expect(findRuleWarnings(rule({ max_amount_micro_usd: '9' }), [small])).toEqual([expect.stringContaining('rule 1')])
  expect(findRuleWarnings(rule({ max_amount_micro_usd: '11' }), [small])).toEqual([])
})
