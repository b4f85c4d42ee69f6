import { expect, test } from 'vitest'
import type { IntentRecord } from '#shared/contract/intents.ts'
import { canApproveMore, grantSentence } from './describeGrant.ts'

const record = {
  kind: 'x402.authorize',
  requester: { kind: 'client', id: 'key_1', name: 'research-agent' },
  host: 'api.example.com',
  scope: 'eip155:8453:0x2222222222222222222222222222222222222222',
  address: '0x71C7656EC7ab88b098defB751B7401B5f6d8976F',
  amount_micro_usd: '500000',
  needs_confirmation: false,
  decision: null,
} as IntentRecord // only these fields are read
const nowMs = new Date('2026-01-01T10:00:00').getTime()

test('names the requester, action and host of a grant with its limits and expiry', () => {
  expect(grantSentence(record, { times: 5, minutes: undefined }, nowMs)).toBe(
    'research-agent may spend up to $2.50 (5 × $0.50) at api.example.com to 0x2222…2222 on Base with 0x71C7…976F for anything it sells, this time and 4 more, without asking you again.',
  )
  expect(grantSentence(record, { times: undefined, minutes: 60 }, nowMs)).toMatch(
    /may pay up to \$0\.50 .* for anything it sells, any number of times, until 11/,
  )
  const bought = { ...record, path: '/datasets/2' }
  expect(grantSentence(bought, { times: 2, minutes: undefined, onlyPath: true }, nowMs)).toMatch(
    / for \/datasets\/2 only, this time and 1 more/,
  )
  expect(grantSentence(bought, { times: 2, minutes: undefined }, nowMs)).toMatch(/ for anything it sells, /)
  expect(grantSentence(record, { times: 2, minutes: 7 * 1440 }, nowMs)).toMatch(/this time and 1 more, until .*8/)
})

test('approves final requests and those above the threshold one at a time', () => {
  expect(canApproveMore(record)).toBe(true)
  expect(canApproveMore({ ...record, kind: 'message' })).toBe(false)
  expect(canApproveMore({ ...record, kind: 'identity.register' })).toBe(false)
  expect(canApproveMore({ ...record, needs_confirmation: true })).toBe(false)
})
