import { expect, test } from 'vitest'
import type { CreditTransaction } from '#shared/contract/credits.ts'
import { chargeFacts, getRefundableCents } from './chargeFacts.ts'

const charge = (fields: Partial<CreditTransaction>): CreditTransaction => ({
  ...{ id: 'txn_1', type: 'inference', amount_cents: -10, description: 'gpt-5.2' },
  ...{ created_at: '2026-11-22T10:00:00.000Z', balance_after_cents: 90 },
  ...fields,
})

test('shows tokens, price version and whether the charge is an estimate', () => {
  const metadata = {
    ...{ price_version: '2026-11-01', input_tokens: 1234, cache_read_tokens: 0, output_tokens: 56, estimated: true },
    ...{ uncollected_micro_usd: 25_000, request_id: 'x1' },
  }
  expect(chargeFacts(charge({ metadata, refunded_cents: 4 }))).toEqual([
    { name: 'Tokens', value: 'Input 1,234 · Output 56' },
    { name: 'Price version', value: '2026-11-01' },
    { name: 'Estimate', value: 'The provider did not report all usage.' },
    { name: 'Not collected', value: '$0.025' },
    { name: 'Refunded', value: '$0.04' },
    { name: 'Request id', value: 'x1' },
  ])
  expect(chargeFacts(charge({}))).toEqual([])
})

test('computes the refundable remainder of a charge', () => {
  expect(getRefundableCents(charge({}))).toBe(10)
  expect(getRefundableCents(charge({ amount_cents: -0.3, refunded_cents: 0.1 }))).toBe(0.2)
  expect(getRefundableCents(charge({ refunded_cents: 10 }))).toBe(0)
  expect(getRefundableCents(charge({ type: 'transfer_out' }))).toBe(0)
})
