import { expect, test } from 'vitest'
import { grownLines, noLines } from './grownLines.ts'

const texts = ['', '\n', 'a', 'a\n', 'a\nb', '\n\na\n\n', 'const a = `\n  b\n`\n', 'a\r\nb\n``']

test('a text that came in two pieces has the lines of the whole, wherever it was cut', () => {
  for (const text of texts) {
    for (let first = 0; first <= text.length; first++) {
      for (let second = first; second <= text.length; second++) {
        const one = grownLines(noLines, text.slice(0, first))
        const two = grownLines(one, text.slice(0, second))
        expect(grownLines(two, text).lines).toEqual(text.split('\n'))
      }
    }
  }
})

test('only the line that was being written changes with a text that grew', () => {
  const before = grownLines(noLines, 'a\nb\nc')
  expect(grownLines(before, 'a\nb\ncd\ne')).toMatchObject({ kept: 2, lines: ['a', 'b', 'cd', 'e'] })
  expect(grownLines(before, 'a\nb\nc\nd')).toMatchObject({ kept: 3 })
  expect(grownLines(before, 'a\nb\nc')).toMatchObject({ kept: 3 })
})

test('the fence that was taken for a line of the code goes, and the lines before it stay', () => {
  const before = grownLines(noLines, 'a\nb\n``')
  expect(grownLines(before, 'a\nb')).toEqual({ text: 'a\nb', lines: ['a', 'b'], kept: 2 })
})

test('another text keeps the lines that both begin with', () => {
  const before = grownLines(noLines, 'a\nb\nc\nd')
  expect(grownLines(before, 'a\nb\nx\nd')).toMatchObject({ kept: 2, lines: ['a', 'b', 'x', 'd'] })
  expect(grownLines(before, 'x\nb')).toMatchObject({ kept: 0 })
})
