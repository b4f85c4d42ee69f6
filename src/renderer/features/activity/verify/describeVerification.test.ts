import { expect, test } from 'vitest'
import { describeVerification } from './describeVerification.ts'

const problems = (count: number) => Array.from({ length: count }, (_, sequence) => ({ sequence, problem: 'x' }))

test.each([
  [0, 'The log is empty'],
  [1, 'Entry 1 is intact'],
  [1234, 'Entries 1 to 1,234 are intact'],
])('describes %i intact entries', (checked, words) => {
  expect(describeVerification({ ok: true, checked, problems: [] })).toBe(words)
})

test.each([
  [1, 'The log was changed in 1 place'],
  [2, 'The log was changed in 2 places'],
  [100, 'The log was changed in 100 or more places'],
])('describes %i problems', (count, words) => {
  expect(describeVerification({ ok: false, checked: 500, problems: problems(count) })).toBe(words)
})
