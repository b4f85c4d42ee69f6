import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { escapeNonAscii } from './asciiOutput.ts'

test('escapes non-ASCII text in literals without changing their values', () => {
  const code = '[`“→ 1`, "é😀", /[“”]/.test("”"), /^😀$/u.test("😀")]'
  const escaped = escapeNonAscii(code)
  expect(/^[\0-\x7f]*$/.test(escaped)).toBe(true)
  expect([...runInNewContext(escaped)]).toEqual(['“→ 1', 'é😀', true, true])
})

test('rejects a non-ASCII character after a backslash', () => {
  expect(() => escapeNonAscii('/\\–/')).toThrow('A backslash precedes')
  expect(escapeNonAscii('"\\\\–"')).toBe('"\\\\\\u2013"')
})
