import { expect, test } from 'vitest'
import { jsonLog } from './log.ts'

test('writes one JSON line per entry, with its area, from the level on', () => {
  const lines: string[] = []
  const log = jsonLog({ write: (line) => lines.push(line), now: () => 0, level: 'info' }).of('host')
  log.debug('too quiet')
  log.warn('slow', { tookMs: 12 })
  expect(lines).toEqual([
    '{"at":"1970-01-01T00:00:00.000Z","level":"warn","area":"host","message":"slow","tookMs":12}\n',
  ])
})

test('tells the message, the code and the cause of an error', () => {
  const lines: string[] = []
  const log = jsonLog({ write: (line) => lines.push(line), now: () => 0, level: 'debug' })
  const failure = Object.assign(new Error('outer', { cause: new Error('inner') }), { code: 'area/reason' })
  log.error('failed', { failure })
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    failure: { message: 'outer', code: 'area/reason', cause: { message: 'inner' } },
  })
})
