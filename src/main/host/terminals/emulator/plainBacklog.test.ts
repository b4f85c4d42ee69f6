import { expect, test } from 'vitest'
import { createPlainBacklog } from './plainBacklog.ts'

const toBytes = (text: string) => new TextEncoder().encode(text)
const lines = (count: number, from = 0) =>
  Array.from({ length: count }, (_, index) => `line ${from + index}\r\n`).join('')

test('returns its input in order', () => {
  const backlog = createPlainBacklog()
  expect(backlog.take(toBytes(lines(3)), 100)).toBe(true)
  expect(backlog.take(toBytes(`\x1b[31mred ü\x1b[m\r\n`), 100)).toBe(true)
  expect(backlog.drain().toString()).toBe(`${lines(3)}\x1b[31mred ü\x1b[m\r\n`)
  expect(backlog.isEmpty).toBe(true)
})

test('keeps the last lines of a flood and the colors before them', () => {
  const backlog = createPlainBacklog()
  backlog.take(toBytes('\x1b[32m'), 100)
  const part = lines(100_000)
  for (let round = 0; round < 5; round++) expect(backlog.take(toBytes(part), 100)).toBe(true)
  const remaining = backlog.drain().toString()
  expect(remaining.startsWith('\x1b[32mline ')).toBe(true)
  expect(remaining.endsWith(lines(100, 99_900))).toBe(true)
  expect(remaining.length).toBeLessThan(part.length * 5)
})

test.each(['\x1b', '\x1b[', '\x1b[38;5;1'])('waits for the rest of a split sequence: %j', (begun) => {
  const backlog = createPlainBacklog()
  expect(backlog.take(toBytes(`text${begun}`), 100)).toBe(true)
  const rest = '\x1b[38;5;1m'.slice(begun.length)
  expect(backlog.take(toBytes(`${rest}more\r\n`), 100)).toBe(true)
  expect(backlog.drain().toString()).toBe('text\x1b[38;5;1mmore\r\n')
})

test.each(['\x1b[6n', '\x1b[2J', '\x1bM', '\x0e', '\x1b]0;title\x07', '\x7f', '\u0085'])('refuses %j', (special) => {
  const backlog = createPlainBacklog()
  const text = `some letters ${special} and more\r\n`
  for (let cut = 0; cut < 4; cut++) expect(backlog.take(toBytes(text.slice(cut)), 100)).toBe(false)
  expect(backlog.isEmpty).toBe(true)
})

test('rejects a split sequence whose end is not plain', () => {
  const backlog = createPlainBacklog()
  expect(backlog.take(toBytes('text\x1b[2'), 100)).toBe(true)
  expect(backlog.take(toBytes('J'), 100)).toBe(false)
  expect(backlog.drain().toString()).toBe('text\x1b[2')
})

test('rejects input over its limit when no line could be dropped', () => {
  const backlog = createPlainBacklog()
  const long = new Uint8Array(3 * 1024 * 1024).fill(0x61)
  expect(backlog.take(long, 100)).toBe(true)
  expect(backlog.take(long, 100)).toBe(false)
  expect(backlog.drain()).toHaveLength(long.length)
})
