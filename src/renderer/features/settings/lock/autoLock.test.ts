import { expect, test } from 'vitest'
import { buildAutoLockOptions, formatMinutesOption, parseMinutesOption } from './autoLock.ts'

test('offers minutes, hours and never in addition to the current value', () => {
  const labels = buildAutoLockOptions(90).map(({ label }) => label)
  expect(labels).toContain('After 90 minutes')
  expect(labels).toContain('After 1 hour')
  expect(labels.at(-1)).toBe('Never')
  expect(buildAutoLockOptions(null)).toHaveLength(6)
  for (const minutes of [null, 1, 240]) expect(parseMinutesOption(formatMinutesOption(minutes))).toBe(minutes)
})
