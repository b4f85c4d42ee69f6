import { expect, test } from 'vitest'
import { describeBudget, describePayment, formatAmount } from './describePayment.ts'

test('shows a payment as paid only when that is known', () => {
  const words = (state: Parameters<typeof describePayment>[0]['state'], paid: boolean | null) =>
    describePayment({ state, paid, error: null }).words
  expect([words('settled', true), words('reconciled', true), words('reconciled', false)]).toEqual([
    'Paid',
    'Paid',
    'Not paid',
  ])
  expect([words('unknown', null), words('refused', null), words('refused', false)]).toEqual([
    'Outcome unknown',
    'Outcome unknown',
    'Not paid',
  ])
})

test('highlights a paid purchase that was not delivered', () => {
  expect(describePayment({ state: 'settled', paid: true, error: 'The seller answered 409.' }).words).toBe(
    'Paid, failed',
  )
})

test('shows the amount actually paid', () => {
  expect(formatAmount({ paid_micro_usd: 400_000, amount_micro_usd: 2_000_000 })).toBe('$0.40')
  expect(formatAmount({ paid_micro_usd: null, amount_micro_usd: 2_000_000 })).toBe('$2.00')
  expect(formatAmount({ paid_micro_usd: 0, amount_micro_usd: 2_000_000 })).toBe('$2.00')
})

test('labels limits by their scope', () => {
  expect(describeBudget({ scope: 'month', key: null })).toBe('This month')
  expect(describeBudget({ scope: 'host', key: 'api.example' })).toBe('api.example')
  expect(describeBudget({ scope: 'payee', key: 'eip155:8453:0x209693bc6afc0c5328ba36faf03c514ef312287c' })).toMatch(
    /^0x2096….*on eip155:8453$/,
  )
})
