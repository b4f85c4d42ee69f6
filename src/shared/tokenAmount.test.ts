import { expect, test } from 'vitest'
import { formatTokenAmount } from './tokenAmount.ts'

test.each([
  [0n, '0.00'],
  [1n, '0.000001'],
  [10_000n, '0.01'],
  [1_500_000n, '1.50'],
  [5_000_000n, '5.00'],
  [1_234_567_890_123n, '1,234,567.890123'],
  [100_000_000n, '100.00'],
  [-2_500_000n, '-2.50'],
])('formats %s atomic units of USDC as %s', (atomic, text) => {
  expect(formatTokenAmount(atomic, 6)).toBe(text)
})

test('formats ether with all eighteen decimals', () => {
  expect(formatTokenAmount(1_000_000_000_000_000_001n, 18)).toBe('1.000000000000000001')
})
