import { expect, test } from 'vitest'
import { growLines, noLines } from './growLines.ts'

const texts = ['', '\n', 'a', 'a\n', 'a\nb', '\n\na\n\n', 'const a = `\n  b\n`\n', 'a\r\nb\n``']

test('splits a text streamed in chunks into the same lines as the whole', () => {
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

test('changes only the last line when a text grows', () => {
  const before = growLines(noLines, 'a\nb\nc')
  expect(growLines(before, 'a\nb\ncd\ne')).toMatchObject({ unchanged: 2, lines: ['a', 'b', 'cd', 'e'] })
  expect(growLines(before, 'a\nb\nc\nd')).toMatchObject({ unchanged: 3 })
  expect(growLines(before, 'a\nb\nc')).toMatchObject({ unchanged: 3 })
})

test('removes a partial closing fence and leaves earlier lines unchanged', () => {
  const before = growLines(noLines, 'a\nb\n``')
  expect(growLines(before, 'a\nb')).toEqual({ text: 'a\nb', lines: ['a', 'b'], unchanged: 2 })
})

test('reuses the common leading lines of a different text', () => {
  const before = growLines(noLines, 'a\nb\nc\nd')
  expect(growLines(before, 'a\nb\nx\nd')).toMatchObject({ unchanged: 2, lines: ['a', 'b', 'x', 'd'] })
  expect(growLines(before, 'x\nb')).toMatchObject({ unchanged: 0 })
})
