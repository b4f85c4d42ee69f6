import { expect, test } from 'vitest'
import { formatEther, formatSol, sumAmounts } from './tokenText.ts'

test.each([
  ['0', '0 ETH'],
  ['1', '< 0.000001 ETH'],
  ['1000000000000', '0.000001 ETH'],
  ['1500000000000000000', '1.5 ETH'],
  ['1234567890123456789012', '1,234.56789 ETH'],
])('formats %s wei as %s', (wei, text) => {
  expect(formatEther(wei)).toBe(text)
})

test.each([
  ['0', '0 SOL'],
  ['999', '< 0.000001 SOL'],
  ['1500000000', '1.5 SOL'],
  ['1234567890123', '1,234.56789 SOL'],
])('formats %s lamports as %s', (lamports, text) => {
  expect(formatSol(lamports)).toBe(text)
})

test('sums amounts and returns undefined if one is unknown', () => {
  expect(sumAmounts(['1', '20000000000000000000000'])).toBe('20000000000000000000001')
  expect(sumAmounts([])).toBe('0')
  expect(sumAmounts(['1', null])).toBeUndefined()
  expect(sumAmounts(undefined)).toBeUndefined()
})
