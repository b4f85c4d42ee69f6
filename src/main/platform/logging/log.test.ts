import { expect, test } from 'vitest'
import { createJsonLog } from './log.ts'

test('writes one JSON line with its area per entry at or above the level', () => {
  const lines: string[] = []
  const log = createJsonLog({ write: (line) => lines.push(line), now: () => 0, level: 'info' }).forArea('host')
  log.debug('too quiet')
  log.warn('slow', { tookMs: 12 })
  expect(lines).toEqual([
    '{"at":"1970-01-01T00:00:00.000Z","level":"warn","area":"host","message":"slow","tookMs":12}\n',
  ])
})

test('limits entries of a kind per minute and then reports their count', () => {
  const lines: string[] = []
  let nowMs = 0
  const log = createJsonLog({ write: (line) => lines.push(line), now: () => nowMs, level: 'info' })
  const refuse = (reason: string) => log.forArea('ipc').warn('call failed', { error: new Error(reason) })
  for (let count = 0; count < 1_000; count++) refuse('no room')
  refuse('another reason')
  expect(lines.length).toBe(21)
  nowMs = 60_000
  refuse('no room')
  expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ unwritten: 980, error: { message: 'no room' } })
})

test('bounds the memory for distinct entries', () => {
  const lines: string[] = []
  const log = createJsonLog({ write: (line) => lines.push(line), now: () => 0, level: 'info' })
  for (let count = 0; count < 2_000; count++) log.info(`entry ${count}`)
  expect(lines.length).toBe(2_000)
})

test('logs the message, code and cause of an error', () => {
  const lines: string[] = []
  const log = createJsonLog({ write: (line) => lines.push(line), now: () => 0, level: 'debug' })
  const error = Object.assign(new Error('outer', { cause: new Error('inner') }), { code: 'area/reason' })
  log.error('failed', { error })
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    error: { message: 'outer', code: 'area/reason', cause: { message: 'inner' } },
  })
})
