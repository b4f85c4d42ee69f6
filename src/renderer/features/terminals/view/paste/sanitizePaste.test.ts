import { expect, test } from 'vitest'
import { sanitizePaste, splitLines, toOneLine, toTypedText } from './sanitizePaste.ts'

test('strips control characters from pasted text', () => {
  expect(sanitizePaste('a\x1b[201~\x1b]0;b\x07c\x00\x03\x08\x7f\x9bd')).toBe('a[201~]0;bcd')
  expect(sanitizePaste('tab\there\nnext\r\nthird\rfourth')).toBe('tab\there\nnext\nthird\nfourth')
  expect(sanitizePaste('naïve 漢字 👩‍💻')).toBe('naïve 漢字 👩‍💻')
})

test('counts lines without the trailing line break', () => {
  expect(splitLines('one')).toEqual(['one'])
  expect(splitLines('one\n\n')).toEqual(['one'])
  expect(splitLines('one\n\ntwo\n')).toEqual(['one', '', 'two'])
})

test('joins lines into one or replaces line breaks with Enter', () => {
  expect(toOneLine('  one \n\n\ttwo\nthree\n')).toBe('one two three')
  expect(toTypedText('one\ntwo')).toBe('one\rtwo')
})
