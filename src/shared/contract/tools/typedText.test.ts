import { expect, test } from 'vitest'
import { parseTypedText } from './typedText.ts'

test.each([
  ['ls\\n', 'ls\n'],
  ['ls\n', 'ls\n'],
  ['\\x03', '\x03'],
  ['\\x1b[A\\u001b[B', '\x1b[A\x1b[B'],
  ['\\t\\r\\e', '\t\r\x1b'],
  ['a literal \\\\n', 'a literal \\n'],
  ['\\\\\\n', '\\\n'],
  ['s/\\d+/\\w/', 's/\\d+/\\w/'],
  ['\\x4', '\\x4'],
  ['ends with \\', 'ends with \\'],
])('decodes %j to %j', (written, typed) => {
  expect(parseTypedText(written)).toBe(typed)
})
