import { expect, test } from 'vitest'
import { countEventsUntil, formatClockTime, parseCast, shortenWaits } from './castPlayback.ts'

const header = '{"version":2,"width":100,"height":30}'
const file = (...lines: string[]) => [header, ...lines, ''].join('\n')

test('parses output and resizes with their times', () => {
  expect(parseCast(file('[0.5,"o","$ "]', '[1,"r","120x40"]', '[61.25,"o","ok\\r\\n"]'))).toEqual({
    cols: 100,
    rows: 30,
    events: [
      { atMs: 500, kind: 'output', text: '$ ' },
      { atMs: 1000, kind: 'size', cols: 120, rows: 40 },
      { atMs: 61_250, kind: 'output', text: 'ok\r\n' },
    ],
    durationMs: 61_250,
  })
})

test('skips invalid events and never moves back in time', () => {
  const odd = [
    'nonsense',
    '[1]',
    '["1","o","x"]',
    '[1e999,"o","x"]',
    '[2,"i","typed"]',
    '[2,"r","0x0x0"]',
    '[-5,"o","a"]',
  ]
  expect(parseCast(file('[3,"o","first"]', ...odd))?.events).toEqual([
    { atMs: 3000, kind: 'output', text: 'first' },
    { atMs: 3000, kind: 'output', text: 'a' },
  ])
  for (const text of ['', '[]', '{"version":1}', 'null', '<html>']) expect(parseCast(text)).toBeUndefined()
})

test('limits the terminal size of a recording', () => {
  expect(parseCast('{"version":2,"width":99999999,"height":-1}\n[0,"r","9999x9999"]')).toMatchObject({
    cols: 500,
    rows: 24,
    events: [{ cols: 500, rows: 500 }],
  })
})

test('shortens only long waits', () => {
  const cast = parseCast(file('[1,"o","a"]', '[3600,"o","b"]', '[3600.5,"o","c"]'))
  expect(cast && shortenWaits(cast)).toMatchObject({
    events: [{ atMs: 1000 }, { atMs: 3000 }, { atMs: 3500 }],
    durationMs: 3500,
  })
})

test('counts the events up to a time', () => {
  const events = [0, 10, 10, 20].map((atMs) => ({ atMs, kind: 'output', text: '' }) as const)
  expect([-1, 0, 9, 10, 19, 20, 99].map((at) => countEventsUntil({ events }, at))).toEqual([0, 1, 1, 3, 3, 4, 4])
})

test('formats times like a clock', () => {
  expect([0, 999, 65_000, 3_723_000].map(formatClockTime)).toEqual(['0:00', '0:00', '1:05', '1:02:03'])
})
