import { expect, test } from 'vitest'
import type { Grant } from '#shared/contract/intents.ts'
import { rule, script, withRules } from '#test/support/fixtures/approvals.ts'
import { evaluateIntent } from './evaluateIntent.ts'
import type { PolicyInput } from './toPolicyInput.ts'

const accountId = 'wal_0123456789abcdef01234567' as Grant['account_id'] // the type is branded
const payment: PolicyInput = {
  kind: 'x402.authorize',
  requester: script,
  host: 'shop.example',
  scope: 'eip155:8453:0x2222222222222222222222222222222222222222',
  accountId,
  amountMicroUsd: 500n,
}
const grant: Grant = {
  id: 'grant_1',
  kind: payment.kind,
  requester: payment.requester,
  host: payment.host,
  scope: payment.scope,
  account_id: accountId,
  max_amount_micro_usd: '500',
  times_left: 1,
  until: null,
  created_at: '2026-01-01T00:00:00.000Z',
}
const policy = { ...withRules([]), stopped: false }
const effect = (intent: PolicyInput, changes: Partial<Parameters<typeof evaluateIntent>[1]> = {}): string =>
  evaluateIntent(intent, { policy, grants: [grant], serviceHost: undefined, ...changes }).effect

test('a grant allows a repeated payment and a smaller one', () => {
  expect(effect(payment)).toBe('allow')
  expect(effect({ ...payment, amountMicroUsd: 1n })).toBe('allow')
  // Client names may change, but ids do not.
  expect(effect({ ...payment, requester: { ...script, name: 'Renamed' } })).toBe('allow')
})

test.each<[what: string, other: Partial<PolicyInput>]>([
  ['kind', { kind: 'siwe' }],
  ['kind of requester', { requester: { ...script, kind: 'tool' } }],
  ['requester', { requester: { ...script, id: 'key:2' } }],
  ['host', { host: 'other.example' }],
  ['host at all', { host: null }],
  ['payee', { scope: 'eip155:8453:0x3333333333333333333333333333333333333333' }],
  ['account', { accountId: 'wal_76543210fedcba9876543210' as Grant['account_id'] }],
  ['amount', { amountMicroUsd: 501n }],
])('a grant does not match another %s', (_, otherHost) => {
  expect(effect({ ...payment, ...otherHost })).toBe('ask')
})

test('a grant for one path matches only that path', () => {
  const narrow = { grants: [{ ...grant, path: '/domains/register' }] }
  expect(effect({ ...payment, path: '/domains/register' }, narrow)).toBe('allow')
  expect(effect({ ...payment, path: '/domains/register/more' }, narrow)).toBe('ask')
  expect(effect({ ...payment, path: null }, narrow)).toBe('ask')
  expect(effect(payment, narrow)).toBe('ask')
  expect(effect({ ...payment, path: '/pay/5/acct' }, { grants: [{ ...grant, path: null }] })).toBe('allow')
})

test('a grant without an amount allows no payment', () => {
  expect(effect(payment, { grants: [{ ...grant, max_amount_micro_usd: null }] })).toBe('ask')
})

test.each(['identity.register', 'message'] as const)('%s needs approval each time regardless of grants', (kind) => {
  const evaluated: PolicyInput = { ...payment, kind, requester: { ...script, kind: 'person' }, amountMicroUsd: null }
  expect(effect(evaluated, { grants: [{ ...grant, kind, requester: evaluated.requester }] })).toBe('ask')
})

test('a rule that allows destructive tools does not allow tools of other servers', () => {
  const call: PolicyInput = { ...payment, kind: 'tool.call', host: null, scope: null, amountMicroUsd: null }
  const allowing = {
    ...policy,
    rules: [rule({ effect: 'allow', kind: 'tool.call', host: '*', max_amount_micro_usd: null })],
  }
  const evaluateScoped = (scope: string) => effect({ ...call, scope }, { policy: allowing, grants: [] })
  expect(evaluateScoped('sandbox_delete sb_1')).toBe('allow')
  expect(evaluateScoped('files__read_file files 0123')).toBe('ask')
})

test('a rule for programs does not apply to payments of a limited key', () => {
  const allowing = { ...policy, rules: [rule({ effect: 'allow', host: '*', max_amount_micro_usd: null })] }
  expect(effect(payment, { policy: allowing, grants: [] })).toBe('allow')
  expect(effect({ ...payment, requester: { ...script, limited: true } }, { policy: allowing, grants: [] })).toBe('ask')
})

test('a deny rule and the stop switch override grants', () => {
  const denying = { ...policy, rules: [rule({ effect: 'deny', host: 'shop.example' })] }
  expect(effect(payment, { policy: denying })).toBe('deny')
  expect(effect(payment, { policy: { ...policy, stopped: true } })).toBe('deny')
  expect(effect({ ...payment, amountMicroUsd: 500n }, { policy: { ...policy, confirm_above_micro_usd: '499' } })).toBe(
    'ask',
  )
})
