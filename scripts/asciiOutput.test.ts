import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { escapeNonAscii } from './asciiOutput.ts'

test('escapes text in literals, which keep their values', () => {
  const code = '[`“→ 1`, "é😀", /[“”]/.test("”"), /^😀$/u.test("😀")]'
  const escaped = escapeNonAscii(code)
  expect(/^[\0-\x7f]*$/.test(escaped)).toBe(true)
  expect([...runInNewContext(escaped)]).toEqual(['“→ 1', 'é😀', true, true])
})

test('refuses a character behind a backslash', () => {
  expect(() => escapeNonAscii('/\\–/')).toThrow('A backslash stands before')
  expect(escapeNonAscii('"\\\\–"')).toBe('"\\\\\\u2013"')
})
