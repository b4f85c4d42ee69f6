import { expect, test } from 'vitest'
import { piecesOf } from './PlainText.tsx'

test('a short text is one piece, a long one is cut between its lines or words', () => {
  expect(piecesOf('a\nb')).toEqual(['a\nb'])
  const lines = `${'word '.repeat(20)}\n`.repeat(500)
  expect(piecesOf(lines).length).toBeGreaterThan(5)
  expect(piecesOf(lines).join('\n')).toBe(lines)
  const words = 'word '.repeat(10_000)
  expect(piecesOf(words).join('')).toBe(words)
  expect(piecesOf(words).every((piece) => piece.length <= 8_000)).toBe(true)
})

test('one endless word is cut, but no character of it', () => {
  const word = `a${'😀'.repeat(10_000)}`
  expect(piecesOf(word).join('')).toBe(word)
  expect(piecesOf(word).every((piece) => piece.isWellFormed())).toBe(true)
})

test('the pieces before the last stay while a text grows', () => {
  const before = piecesOf('some words '.repeat(2_000))
  expect(piecesOf('some words '.repeat(2_500)).slice(0, before.length - 1)).toEqual(before.slice(0, -1))
})
