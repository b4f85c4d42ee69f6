import { expect, test } from 'vitest'
import { formatUsdCents } from '#shared/money/moneyText.ts'
import { formatApproximateCents, formatChange, parseCents } from './creditText.ts'

test('formats amounts as dollars with all their digits', () => {
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

test('rounds chart amounts to cents and marks smaller amounts', () => {
  expect([0, 0.4, 1.4, 1.5, 250].map(formatApproximateCents)).toEqual(['$0.00', '< $0.01', '$0.01', '$0.02', '$2.50'])
})

test('accepts only whole cents as input', () => {
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
