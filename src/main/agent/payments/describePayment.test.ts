import { expect, test } from 'vitest'
import { describePaymentState } from './describePayment.ts'

const upto = { amount: '1000000', test: false, scheme: 'upto' } as const

test.each([
  [{ ...upto, state: 'waiting', paid: null }, 'Up to 1.00 USDC waits for approval.'],
  [
    { ...upto, state: 'unknown', paid: null },
    'Steward does not know yet whether up to 1.00 USDC was paid. It keeps checking and signs nothing new.',
  ],
  [
    { ...upto, state: 'refused', paid: null },
    'The seller refused up to 1.00 USDC. The amount counts toward your limits until the signature expires.',
  ],
  [{ ...upto, scheme: 'exact', state: 'waiting', paid: null }, '1.00 USDC waits for approval.'],
] as const)('describes %o', (payment, sentence) => {
  expect(describePaymentState(payment)).toBe(sentence)
})

test('describes a payment by the amount that was settled', () => {
  expect(describePaymentState({ ...upto, state: 'settled', paid: true }, '300000')).toBe('0.30 USDC was paid.')
})
