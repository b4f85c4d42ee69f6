import { expect, test } from 'vitest'
import { splitText } from './PlainText.tsx'

test('leaves a short text whole and splits a long one between lines or words', () => {
  expect(splitText('a\nb')).toEqual(['a\nb'])
  const lines = `${'word '.repeat(20)}\n`.repeat(500)
  expect(splitText(lines).length).toBeGreaterThan(5)
  expect(splitText(lines).join('\n')).toBe(lines)
  const words = 'word '.repeat(10_000)
  expect(splitText(words).join('')).toBe(words)
  expect(splitText(words).every((piece) => piece.length <= 8_000)).toBe(true)
})

test('splits a very long word without splitting a character', () => {
  const word = `a${'😀'.repeat(10_000)}`
  expect(splitText(word).join('')).toBe(word)
  expect(splitText(word).every((piece) => piece.isWellFormed())).toBe(true)
})

test('all chunks but the last remain unchanged while a text grows', () => {
  const before = splitText('some words '.repeat(2_000))
  expect(splitText('some words '.repeat(2_500)).slice(0, before.length - 1)).toEqual(before.slice(0, -1))
})
