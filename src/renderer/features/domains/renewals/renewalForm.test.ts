import { expect, test } from 'vitest'
import { renewalForm, suggestedMost, writtenRenewal } from './renewalForm.ts'

test('a new one suggests the next whole dollar above the price of a year', () => {
  expect(renewalForm(undefined, 11_950_000)).toEqual({ daysBefore: 30, years: 1, most: '12' })
  expect(suggestedMost(12_000_000)).toBe('13')
  expect(renewalForm(undefined, undefined).most).toBe('')
})

test.each([
  ['', undefined],
  ['0', undefined],
  ['many', undefined],
  ['1.1234567', undefined],
  ['12.50', 12_500_000],
])('a most of “%s” is %s', (most, microUsd) => {
  expect(writtenRenewal({ daysBefore: 30, years: 1, most })?.most_micro_usd).toBe(microUsd)
})

test('days and years beyond their limits are nothing', () => {
  expect(writtenRenewal({ daysBefore: 91, years: 1, most: '1' })).toBeUndefined()
  expect(writtenRenewal({ daysBefore: 30, years: Number.NaN, most: '1' })).toBeUndefined()
})
