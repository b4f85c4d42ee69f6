import { expect, test } from 'vitest'
import { parseRenewal, suggestMaxPrice, toRenewalForm } from './renewalForm.ts'

test('suggests the next whole dollar above the yearly price for a new renewal', () => {
  expect(toRenewalForm(undefined, 11_950_000)).toEqual({ daysBefore: 30, years: 1, maxPrice: '12' })
  expect(suggestMaxPrice(12_000_000)).toBe('13')
  expect(toRenewalForm(undefined, undefined).maxPrice).toBe('')
})

test.each([
  ['', undefined],
  ['0', undefined],
  ['many', undefined],
  ['1.1234567', undefined],
  ['12.50', 12_500_000],
])('parses the maximum price “%s” as %s', (maxPrice, microUsd) => {
  expect(parseRenewal({ daysBefore: 30, years: 1, maxPrice })?.max_micro_usd).toBe(microUsd)
})

test('rejects days and years outside their limits', () => {
  expect(parseRenewal({ daysBefore: 91, years: 1, maxPrice: '1' })).toBeUndefined()
  expect(parseRenewal({ daysBefore: 30, years: Number.NaN, maxPrice: '1' })).toBeUndefined()
})
