import { expect, test } from 'vitest'
import { typeInChunks } from './pieceByPiece.ts'

const long = 'ä'.repeat(50_000)

function started(options: { text: string; bracketed: boolean; takes?: number }) {
  const typed: string[] = []
  const type = (text: string) => typed.length < (options.takes ?? Number.POSITIVE_INFINITY) && typed.push(text) > 0
  return { typed, pieces: typeInChunks({ ...options, type }) }
}

test('the next piece waits until the one before has arrived', () => {
  const { typed, pieces } = started({ text: long, bracketed: false })
  expect(typed).toHaveLength(1)
  expect(pieces.arrived).toBe(0)
  while (!pieces.done) pieces.next()
  expect(typed.length).toBeGreaterThan(2)
  expect(typed.join('')).toBe(long)
  expect(pieces.arrived).toBe(long.length)
})

test('a program that knows pastes gets its begin and end once', () => {
  const { typed, pieces } = started({ text: long, bracketed: true })
  while (!pieces.done) pieces.next()
  expect(typed.join('')).toBe(`\x1b[200~${long}\x1b[201~`)
  expect(started({ text: 'short', bracketed: true }).typed).toEqual(['\x1b[200~short\x1b[201~'])
})

test('called off, nothing more is sent but the end', () => {
  const { typed, pieces } = started({ text: long, bracketed: true })
  pieces.stop()
  pieces.next()
  expect(pieces.done).toBe(true)
  expect(typed).toHaveLength(2)
  expect(typed[1]).toBe('\x1b[201~')
})

test('a piece that is not taken ends it', () => {
  const { typed, pieces } = started({ text: long, bracketed: false, takes: 1 })
  pieces.next()
  expect(pieces.done).toBe(true)
  expect(typed).toHaveLength(1)
})
