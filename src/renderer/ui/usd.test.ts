import { expect, test } from 'vitest'
import { microUsdOf, usdField, usdText } from './usd.ts'

test.each([
  ['0', '$0.00', '0'],
  ['1', '$0.000001', '0.000001'],
  ['1500', '$0.0015', '0.0015'],
  ['500000', '$0.50', '0.50'],
  ['5000000', '$5.00', '5'],
  ['1234500000', '$1,234.50', '1234.50'],
])('%s micro-dollars read %s, and are written %s', (micro, text, field) => {
  expect(usdText(micro)).toBe(text)
  expect(usdField(micro)).toBe(field)
  expect(microUsdOf(field)).toBe(micro)
})

test('what is no amount is none', () => {
  expect(['', '-1', '1,5', '1.', '.5', '0.0000001', 'ten', '1e3'].map(microUsdOf)).toEqual(Array(8).fill(undefined))
  expect(microUsdOf(' $ 5.5 ')).toBe('5500000')
})
