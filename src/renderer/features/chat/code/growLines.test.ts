import { expect, test } from 'vitest'
import { growLines, noLines } from './growLines.ts'

const texts = ['', '\n', 'a', 'a\n', 'a\nb', '\n\na\n\n', 'const a = `\n  b\n`\n', 'a\r\nb\n``']

test('a text that came in two pieces has the lines of the whole, wherever it was cut', () => {
  for (const text of texts) {
    for (let first = 0; first <= text.length; first++) {
      for (let second = first; second <= text.length; second++) {
        const one = growLines(noLines, text.slice(0, first))
        const two = growLines(one, text.slice(0, second))
        expect(growLines(two, text).lines).toEqual(text.split('\n'))
      }
    }
  }
})

test('only the line that was being written changes with a text that grew', () => {
  const before = growLines(noLines, 'a\nb\nc')
  expect(growLines(before, 'a\nb\ncd\ne')).toMatchObject({ unchanged: 2, lines: ['a', 'b', 'cd', 'e'] })
  expect(growLines(before, 'a\nb\nc\nd')).toMatchObject({ unchanged: 3 })
  expect(growLines(before, 'a\nb\nc')).toMatchObject({ unchanged: 3 })
})

test('the fence that was taken for a line of the code goes, and the lines before it stay', () => {
  const before = growLines(noLines, 'a\nb\n``')
  expect(growLines(before, 'a\nb')).toEqual({ text: 'a\nb', lines: ['a', 'b'], unchanged: 2 })
})

test('another text keeps the lines that both begin with', () => {
  const before = growLines(noLines, 'a\nb\nc\nd')
  expect(growLines(before, 'a\nb\nx\nd')).toMatchObject({ unchanged: 2, lines: ['a', 'b', 'x', 'd'] })
  expect(growLines(before, 'x\nb')).toMatchObject({ unchanged: 0 })
})
