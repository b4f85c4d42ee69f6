import { expect, test } from 'vitest'
import { findDuplicates, suggestName } from './sandboxNames.ts'

test.each([
  ['atlas', ['web'], undefined],
  ['atlas', ['atlas'], 'atlas-2'],
  [' atlas ', ['atlas', 'atlas-2'], 'atlas-3'],
  ['atlas-2', ['atlas-2'], 'atlas-3'],
  ['', ['atlas'], undefined],
])('%j beside %j: %j', (written, names, free) => {
  expect(suggestName(written, names)).toBe(free)
})

test('finds the names that do not tell sandboxes apart', () => {
  expect([...findDuplicates(['a', 'b', 'a', 'c', 'a'])]).toEqual(['a'])
})
