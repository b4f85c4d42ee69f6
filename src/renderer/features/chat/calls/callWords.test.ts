import { expect, test } from 'vitest'
import { argumentsOf, callSubject, dnsLines, plainOutput } from './callWords.ts'

test('the first line of a card is one line, whatever a model writes', () => {
  expect(callSubject(argumentsOf({ arguments: '{"command":"ls\\n\\u202Erm -rf /"}' }))).toBe('ls rm -rf /')
  expect(callSubject(argumentsOf({ arguments: '{"command":{}}' }))).toBe('')
  expect(argumentsOf({ arguments: 'no json' })).toBeUndefined()
  expect(argumentsOf({ arguments: '[1]' })).toBeUndefined()
})

test('output shows without sequences of a terminal', () => {
  expect(plainOutput('\u001B[31mred\u001B[0m\r\n10 %\r100 %\n\u001B]0;title\u0007a\u0000\u0007')).toBe('red\n100 %\na')
})

test('enormous output is read once', () => {
  expect(plainOutput('x'.repeat(1_000_000))).toHaveLength(1_000_000)
  expect(plainOutput('\u001B]'.repeat(200_000))).toBe('')
})

test('a change of DNS records shows as lines that go and come', () => {
  const add = { tool: 'domain_dns_add' }
  expect(dnsLines(add, { domain: 'a.com', type: 'A', host: '@', value: '1.2.3.4' })).toEqual([
    { sign: '+', text: 'A  @  1.2.3.4' },
  ])
  expect(dnsLines({ tool: 'domain_dns_delete' }, { record_id: '7' })).toEqual([{ sign: '−', text: 'record 7' }])
  expect(dnsLines({ tool: 'domain_list' }, {})).toBeUndefined()
})
