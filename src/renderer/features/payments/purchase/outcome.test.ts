import { expect, test } from 'vitest'
import type { PaymentReceipt } from '#shared/contract/paymentRecords.ts'
import { getPurchaseOutcome } from './outcome.ts'
import { addYears } from './purchaseInput.ts'

const payment = (
  state: PaymentReceipt['state'],
  paid: boolean | null,
  answer?: { status: number; body: string },
): PaymentReceipt =>
  ({
    ...{ state, paid, error: null },
    answer: answer ? { ...answer, headers: {}, encoding: 'utf8', truncated: false } : null,
  }) as PaymentReceipt

test('has no outcome while a payment is pending', () => {
  expect(getPurchaseOutcome(payment('waiting', null))).toBeUndefined()
  expect(getPurchaseOutcome(payment('sent', null))).toBeUndefined()
})

test('reports a delivered purchase as done and a paid refusal as credited', () => {
  const body = JSON.stringify({ success: true, domain: 'a.com', status: 'active', expires_at: '2027' })
  expect(getPurchaseOutcome(payment('settled', true, { status: 201, body }))).toMatchObject({
    sold: { domain: 'a.com' },
  })
  const failed = JSON.stringify({ error: 'a.com is taken.', credited_cents: 1095 })
  expect(getPurchaseOutcome(payment('settled', true, { status: 409, body: failed }))).toEqual({
    ...{ kind: 'credited', creditedCents: 1095, reason: 'a.com is taken.' },
  })
})

test('never reports an unknown outcome as unpaid', () => {
  expect(getPurchaseOutcome(payment('unknown', null))?.kind).toBe('unclear')
  expect(getPurchaseOutcome(payment('refused', null))?.kind).toBe('unclear')
  expect(getPurchaseOutcome(payment('refused', false))?.kind).toBe('unpaid')
})

test('reports no details for a response that is not JSON', () => {
  expect(getPurchaseOutcome(payment('settled', true, { status: 201, body: '<b>' }))).toEqual({ kind: 'done', sold: {} })
})

test('a renewal extends the expiry date', () => {
  expect(addYears('2027-11-23T00:00:00.000Z', 2)).toBe('2029-11-23')
})
