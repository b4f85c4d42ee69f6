import { expect, test } from 'vitest'
import { formatUsd, formatUsdCents, formatUsdInput, type MoneyForm, parseUsd } from './moneyText.ts'

test.each<[amount: number | string, MoneyForm, text: string]>([
  [0, 'whole', '$0'],
  [0, 'cents', '$0.00'],
  [0, 'exact', '$0.00'],
  [5_000_000, 'whole', '$5'],
  [5_250_000, 'whole', '$5.25'],
  [37_500, 'whole', '$0.0375'],
  [1_234_500_000, 'cents', '$1,234.50'],
  [1_500, 'exact', '$0.0015'],
  ['123456789012345678', 'exact', '$123,456,789,012.345678'],
  [-12_345, 'exact', '−$0.012345'],
  [-1, 'cents', '$0.00'],
])('formats %d in the %s form as %s', (amount, form, text) => {
  expect(formatUsd(amount, form)).toBe(text)
})

test('rounds to cents in the requested direction', () => {
  const format = (amount: number) => (['down', 'nearest', 'up'] as const).map((it) => formatUsd(amount, 'cents', it))
  expect(format(14_999)).toEqual(['$0.01', '$0.01', '$0.02'])
  expect(format(15_000)).toEqual(['$0.01', '$0.02', '$0.02'])
  expect(format(20_000)).toEqual(['$0.02', '$0.02', '$0.02'])
  expect(format(1)).toEqual(['$0.00', '$0.00', '$0.01'])
})

test.each([
  ['0', '$0.00', '0'],
  ['1', '$0.000001', '0.000001'],
  ['1500', '$0.0015', '0.0015'],
  ['500000', '$0.50', '0.50'],
  ['5000000', '$5.00', '5'],
  ['1234500000', '$1,234.50', '1234.50'],
])('formats %s micro-dollars as %s, and as %s for input', (micro, text, field) => {
  expect(formatUsd(micro, 'exact')).toBe(text)
  expect(formatUsdInput(micro)).toBe(field)
  expect(parseUsd(field)).toBe(micro)
})

test('rejects text that is not an amount', () => {
  expect(['', '-1', '1,5', '1.', '.5', '0.0000001', 'ten', '1e3'].map(parseUsd)).toEqual(Array(8).fill(undefined))
  expect(parseUsd(' $ 5.5 ')).toBe('5500000')
})

test('formats fractions of a cent', () => {
  expect([0, 500, 0.15, 12.3456, -1.23].map(formatUsdCents)).toEqual([
    '$0.00',
    '$5.00',
    '$0.0015',
    '$0.123456',
    '−$0.0123',
  ])
})
