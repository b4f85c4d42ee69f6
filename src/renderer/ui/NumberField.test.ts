import { expect, test } from 'vitest'
import { parseWholeNumber, validateNumber } from './NumberField.tsx'

test.each([
  ['700', 700],
  [' 42 ', 42],
  ['999999', 999_999],
])('parses %j as %i', (written, value) => {
  expect(parseWholeNumber(written)).toBe(value)
})

test.each(['', '1.5', '-1', '1e3', 'many', '9'.repeat(16)])('rejects %j as a whole number', (written) => {
  expect(parseWholeNumber(written)).toBeNaN()
})

test('reports the allowed range without rounding the value', () => {
  const limits = { min: 512, max: 8192 }
  expect(validateNumber(700, limits)).toBeUndefined()
  expect(validateNumber(999_999, limits)).toBe('Use 512 to 8192.')
  expect(validateNumber(Number.NaN, limits)).toBe('Use 512 to 8192.')
})
