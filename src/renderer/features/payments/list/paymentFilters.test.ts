import { expect, test } from 'vitest'
import { isFilteredPayments, noPaymentFilters, toPaymentQuery } from './paymentFilters.ts'

test('omits unset filters from the query', () => {
  expect(toPaymentQuery(noPaymentFilters)).toEqual({})
  expect(isFilteredPayments(toPaymentQuery({ ...noPaymentFilters, text: '  ' }))).toBe(false)
})

test('includes the whole last day', () => {
  expect(toPaymentQuery({ text: ' shop ', state: 'unknown', from: '2026-11-01', to: '2026-11-02' })).toEqual({
    ...{ search: 'shop', state: 'unknown' },
    ...{ from: '2026-11-01T00:00:00.000Z', to: '2026-11-03T00:00:00.000Z' },
  })
})
