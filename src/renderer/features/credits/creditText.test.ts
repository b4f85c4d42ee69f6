import { expect, test } from 'vitest'
import { formatUsdCents } from '#shared/money/moneyText.ts'
import { formatApproximateCents, formatChange, parseCents } from './creditText.ts'

test('amounts read as dollars, with as many digits as they have', () => {
  expect([0, 1250, -4, 1.2345, -0.0001, 123_456_789].map(formatUsdCents)).toEqual([
    '$0.00',
    '$12.50',
    '−$0.04',
    '$0.012345',
    '−$0.000001',
    '$1,234,567.89',
  ])
  expect([formatChange(5), formatChange(-5), formatChange(0)]).toEqual(['+$0.05', '−$0.05', '$0.00'])
})

test('in a chart they are rounded to cents, and what is less is said to be', () => {
  expect([0, 0.4, 1.4, 1.5, 250].map(formatApproximateCents)).toEqual(['$0.00', '< $0.01', '$0.01', '$0.02', '$2.50'])
})

test('what is typed counts in whole cents', () => {
  expect(['5', '$1.25', '0.01', '0', '1.005', '-1', 'x', ''].map(parseCents)).toEqual([
    500,
    125,
    1,
    0,
    undefined,
    undefined,
    undefined,
    undefined,
  ])
})
