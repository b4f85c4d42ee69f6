import { expect, test } from 'vitest'
import { formatUptime } from './uptime.ts'

const at = (seconds: number) => formatUptime(1_000_000, 1_000_000 + seconds * 1000)

test.each([
  [0, '0s'],
  [59.9, '59s'],
  [60, '1m'],
  [3599, '59m'],
  [3600, '1h 00m'],
  [3 * 3600 + 5 * 60 + 59, '3h 05m'],
  [24 * 3600, '1d 0h'],
  [6 * 86_400 + 4 * 3600 + 59, '6d 4h'],
])('formats an uptime of %d seconds as %s', (seconds, text) => {
  expect(at(seconds)).toBe(text)
})

test('shows no negative time after the clock is set back', () => {
  expect(at(-30)).toBe('0s')
})
