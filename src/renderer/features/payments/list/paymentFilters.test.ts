import { expect, test } from 'vitest'
import { isFilteredPayments, noPaymentFilters, paymentQuery } from './paymentFilters.ts'

test('what is not filtered is not asked for', () => {
  expect(paymentQuery(noPaymentFilters)).toEqual({})
  expect(isFilteredPayments(paymentQuery({ ...noPaymentFilters, text: '  ' }))).toBe(false)
})

test('the last day counts as a whole', () => {
  expect(paymentQuery({ text: ' shop ', state: 'unknown', from: '2026-11-01', to: '2026-11-02' })).toEqual({
    ...{ search: 'shop', state: 'unknown' },
    ...{ from: '2026-11-01T00:00:00.000Z', to: '2026-11-03T00:00:00.000Z' },
  })
})
