import { expect, test } from 'vitest'
import { typeInChunks } from './pieceByPiece.ts'

const long = 'ä'.repeat(50_000)

function started(options: { text: string; bracketed: boolean; takes?: number }) {
  const typed: string[] = []
  const type = (text: string) => typed.length < (options.takes ?? Number.POSITIVE_INFINITY) && typed.push(text) > 0
  return { typed, pieces: typeInChunks({ ...options, type }) }
}

test('sends the next chunk after the previous one arrives', () => {
  const { typed, pieces } = started({ text: long, bracketed: false })
  expect(typed).toHaveLength(1)
  expect(pieces.arrived).toBe(0)
  while (!pieces.done) pieces.next()
  expect(typed.length).toBeGreaterThan(2)
  expect(typed.join('')).toBe(long)
  expect(pieces.arrived).toBe(long.length)
})

test('wraps a bracketed paste in one start and one end sequence', () => {
  const { typed, pieces } = started({ text: long, bracketed: true })
  while (!pieces.done) pieces.next()
  expect(typed.join('')).toBe(`\x1b[200~${long}\x1b[201~`)
  expect(started({ text: 'short', bracketed: true }).typed).toEqual(['\x1b[200~short\x1b[201~'])
})

test('an aborted paste sends only the end sequence', () => {
  const { typed, pieces } = started({ text: long, bracketed: true })
  pieces.stop()
  pieces.next()
  expect(pieces.done).toBe(true)
  expect(typed).toHaveLength(2)
  expect(typed[1]).toBe('\x1b[201~')
})

test('stops when a chunk is rejected', () => {
  const { typed, pieces } = started({ text: long, bracketed: false, takes: 1 })
  pieces.next()
  expect(pieces.done).toBe(true)
  expect(typed).toHaveLength(1)
})
