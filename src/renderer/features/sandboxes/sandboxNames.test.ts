import { expect, test } from 'vitest'
import { findDuplicates, suggestName } from './sandboxNames.ts'

test.each([
  ['atlas', ['web'], undefined],
  ['atlas', ['atlas'], 'atlas-2'],
  [' atlas ', ['atlas', 'atlas-2'], 'atlas-3'],
  ['atlas-2', ['atlas-2'], 'atlas-3'],
  ['', ['atlas'], undefined],
])('suggests a name for %j next to %j: %j', (written, names, free) => {
  expect(suggestName(written, names)).toBe(free)
})

test('finds duplicate sandbox names', () => {
  expect([...findDuplicates(['a', 'b', 'a', 'c', 'a'])]).toEqual(['a'])
})
