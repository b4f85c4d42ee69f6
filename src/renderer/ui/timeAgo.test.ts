import { expect, test } from 'vitest'
import { formatTimeAgo } from './timeAgo.ts'

test.each([
  [0, 'now'],
  [-5, 'now'],
  [5, '5 s'],
  [61, '1 min'],
  [2 * 3600, '2 h'],
  [3 * 86_400 + 5, '3 d'],
])('formats %d seconds ago as %s', (seconds, text) => {
  expect(formatTimeAgo(1_000_000_000, 1_000_000_000 + seconds * 1000)).toBe(text)
})
