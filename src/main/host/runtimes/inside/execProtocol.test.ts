import { describe, expect, test } from 'vitest'
import { createStatusReader, encodeFields, maxStatusLineBytes, parseStatusLine } from './execProtocol.ts'

describe('status lines', () => {
  test.each([
    ['h', { kind: 'accepted' }],
    ['p 4194304', { kind: 'started', pid: 4_194_304 }],
    ['p 0', { kind: 'started', pid: 0 }],
    ['e folder 2', { kind: 'failed', stage: 'folder', errno: 2 }],
    ['x 65280', { kind: 'ended', status: 65_280 }],
  ])('parses %j', (line, event) => {
    expect(parseStatusLine(line)).toEqual(event)
  })

  test.each([
    ['without a word', ['', ' ', '0', '\n']],
    ['with an unknown word', ['q 1', 'H', 'P 1', 'px 1', 'h 1', 'hello']],
    ['with an invalid number', ['p -1', 'p NaN', 'x 0x10', 'x 1.5', 'e fork ', 'x  1', 'x 12345678901']],
    ['with an invalid stage', ['e  2', 'e Fork 2', 'e 2', 'e a b 2', 'e fork\n2']],
    ['with more than one line', ['x 0\n', 'x 0\nx 1', 'p 1 ', 'x 0 0']],
    ['that is truncated', ['p', 'p ', 'e', 'e ', 'e folder', 'x']],
  ])('rejects a line %s', (_, lines) => {
    for (const line of lines) expect(parseStatusLine(line), JSON.stringify(line)).toBeUndefined()
  })

  test('rejects a line beyond the maximum', () => {
    const line = (bytes: number): string => `e ${'a'.repeat(bytes - 4)} 2`
    expect(parseStatusLine(line(maxStatusLineBytes))).toMatchObject({ kind: 'failed' })
    expect(parseStatusLine(line(maxStatusLineBytes + 1))).toBeUndefined()
  })
})

describe('status of an operation', () => {
  /** Returns the PIDs with which the operation has started, and the result. */
  function read(...lines: string[]) {
    const status = createStatusReader()
    const pids = lines.flatMap((line) => status.receive(line).startedPid ?? [])
    return { pids, result: status.result() }
  }

  test('has a result once a command has exited or failed', () => {
    expect(read('h')).toEqual({ pids: [], result: undefined })
    expect(read('h', 'p 7')).toEqual({ pids: [7], result: undefined })
    expect(read('h', 'p 7', 'x 256')).toEqual({ pids: [7], result: { kind: 'ended', status: 256 } })
    expect(read('e fork 11')).toEqual({ pids: [], result: { kind: 'failed', stage: 'fork', errno: 11 } })
  })

  test('reports a command that could not be run as failed, not as started and exited', () => {
    const result = { kind: 'failed', stage: 'command', errno: 7 }
    expect(read('h', 'e command 7', 'p 7', 'x 256')).toEqual({ pids: [], result })
    expect(read('x 256', 'e command 7')).toEqual({ pids: [], result })
  })

  test('keeps the first exit and the first failure', () => {
    expect(read('p 7', 'x 0', 'x 256').result).toEqual({ kind: 'ended', status: 0 })
    expect(read('e folder 2', 'e command 7').result).toEqual({ kind: 'failed', stage: 'folder', errno: 2 })
  })

  test('ignores malformed lines', () => {
    expect(read('p', 'x many', 'e', 'nothing 1')).toEqual({ pids: [], result: undefined })
  })
})

test('ends each field of a request with NUL', () => {
  expect(encodeFields(['exec', '', 'ls'])).toBe('exec\0\0ls\0')
  expect(encodeFields([])).toBe('')
})
