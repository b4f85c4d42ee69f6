import { expect, test } from 'vitest'
import { describeRemainingBudget } from './describeRemainingBudget.ts'

test('shows the remaining daily and monthly limits if they exist', () => {
  expect(describeRemainingBudget([])).toBeUndefined()
  const payment = { scope: 'payment', remaining_micro_usd: 5_000_000 } as const
  expect(describeRemainingBudget([payment, { scope: 'day', remaining_micro_usd: null }])).toBeUndefined()
  expect(
    describeRemainingBudget([
      payment,
      { scope: 'day', remaining_micro_usd: 19_050_000 },
      { scope: 'month', remaining_micro_usd: 0 },
    ]),
  ).toBe('Remaining before this payment: $19.05 in any 24 hours · $0.00 this month')
})
