import { expect, test } from 'vitest'
import { formatTimeLeft } from './timeLeft.ts'

test.each([
  [-1, 'expiring'],
  [0, 'expiring'],
  [0.5, '1 s left'],
  [59, '59 s left'],
  [60, '1 min left'],
  [3599, '59 min left'],
  [7300, '2 h left'],
])('%d seconds before expiry: %s', (seconds, text) => {
  expect(formatTimeLeft(1_000_000 + seconds * 1000, 1_000_000)).toBe(text)
})
