import { expect, test } from 'vitest'
import { formatDuration } from './durationText.ts'

test('formats the duration of a command', () => {
  expect([12.4, 999, 2430, 185_000].map(formatDuration)).toEqual(['12 ms', '999 ms', '2.4 s', '3 min 05 s'])
})
