import { expect, test } from 'vitest'
import { hasLongString, serializeJsonChunks } from './jsonPieces.ts'

async function readPieces(value: Readonly<Record<string, unknown>>): Promise<string[]> {
  const pieces: string[] = []
  for await (const piece of serializeJsonChunks(value)) pieces.push(piece)
  return pieces
}

test.each([
  ['nothing', {}],
  ['no long string', { one: 1, absent: undefined, text: 'a"b' }],
  ['control characters', { stdout: '\u0001'.repeat(200_000), stderr: '', exit_code: 0 }],
  ['characters of two units across every cut', { content: `a${'😀'.repeat(100_000)}`, after: [1, { b: null }] }],
  ['half a character at the end', { content: `${'a'.repeat(65_535)}\ud83d` }],
])('chunks concatenate to the JSON.stringify output: %s', async (_, value) => {
  expect((await readPieces(value)).join('')).toBe(JSON.stringify(value))
})

test('no chunk is longer than six times 64 Ki', async () => {
  const pieces = await readPieces({ stdout: '\u0001'.repeat(1_000_000) })
  expect(Math.max(...pieces.map(({ length }) => length))).toBe(6 * 64 * 1024)
})

test('yields to other work between chunks', async () => {
  let turns = 0
  const timer = setImmediate(function count() {
    turns += 1
    next = setImmediate(count)
  })
  let next = timer
  const pieces = await readPieces({ stdout: 'a'.repeat(64 * 1024 * 20) })
  clearImmediate(next)
  expect(pieces).toHaveLength(20 + 3)
  expect(turns).toBeGreaterThanOrEqual(19)
})

test('only direct members of plain objects count as long strings', () => {
  expect(hasLongString({ a: 'abc' }, 2)).toBe(true)
  expect(hasLongString({ a: 'abc' }, 3)).toBe(false)
  expect(hasLongString({ a: { b: 'abc' } }, 2)).toBe(false)
  expect(hasLongString(['abc'], 2)).toBe(false)
  expect(hasLongString(undefined, 2)).toBe(false)
})
