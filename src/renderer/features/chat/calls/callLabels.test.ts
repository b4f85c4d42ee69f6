import { expect, test } from 'vitest'
import { describeCallSubject, formatDnsLines, parseArguments, readExitCode, stripControls } from './callLabels.ts'

test('reduces the first line of a card to one line of printable text', () => {
  expect(describeCallSubject(parseArguments({ arguments: '{"command":"ls\\n\\u202Erm -rf /"}' }))).toBe('ls rm -rf /')
  expect(describeCallSubject(parseArguments({ arguments: '{"command":{}}' }))).toBe('')
  expect(parseArguments({ arguments: 'no json' })).toBeUndefined()
  expect(parseArguments({ arguments: '[1]' })).toBeUndefined()
})

test('strips terminal escape sequences from output', () => {
  expect(stripControls('\u001B[31mred\u001B[0m\r\n10 %\r100 %\n\u001B]0;title\u0007a\u0000\u0007')).toBe(
    'red\n100 %\na',
  )
})

test('strips escape sequences from very long output', () => {
  expect(stripControls('x'.repeat(1_000_000))).toHaveLength(1_000_000)
  expect(stripControls('\u001B]'.repeat(200_000))).toBe('')
})

test('shows a DNS change as removed and added lines', () => {
  const before = { record_id: '7', type: 'A', host: 'www', value: '192.0.2.1', ttl: 3600, distance: null }
  const add = { tool: 'domain_dns_add', before: null }
  expect(formatDnsLines(add, { domain: 'a.com', type: 'A', host: '@', value: '1.2.3.4' })).toEqual([
    { sign: '+', text: 'A  @  1.2.3.4' },
  ])
  const remove = { tool: 'domain_dns_delete', before: null }
  expect(formatDnsLines(remove, { record_id: '7' })).toEqual([{ sign: '−', text: 'record 7' }])
  expect(formatDnsLines({ ...remove, before }, { record_id: '7' })).toEqual([
    { sign: '−', text: 'A  www  192.0.2.1  3600' },
  ])
  expect(formatDnsLines({ tool: 'domain_dns_update', before }, { record_id: '7', value: '192.0.2.9' })).toEqual([
    { sign: '−', text: 'A  www  192.0.2.1  3600' },
    { sign: '+', text: 'A  www  192.0.2.9  3600' },
  ])
  expect(formatDnsLines({ tool: 'domain_list', before: null }, {})).toBeUndefined()
})

test('shows the exit code only of a command with a non-zero code', () => {
  expect(readExitCode({ state: 'done', result: { exit_code: 1 } })).toBe(1)
  expect(readExitCode({ state: 'done', result: { exit_code: 0 } })).toBeUndefined()
  expect(readExitCode({ state: 'done', result: { exit_code: '1' } })).toBeUndefined()
  expect(readExitCode({ state: 'done', result: null })).toBeUndefined()
  expect(readExitCode({ state: 'failed', result: { exit_code: 1 } })).toBeUndefined()
})
