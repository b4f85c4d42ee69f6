import { expect, test } from 'vitest'
import { formatRequester, parseRequester, Requester, toRequester } from './requester.ts'

test.each(['claude-code', 'Chat “Мой сайт; 100%”', ' ', 'a\r\nb', '\ud800x'])(
  'a header carries the name %j',
  (name) => {
    const header = formatRequester({ kind: 'chat', name })
    expect(header).toMatch(/^[\x21-\x7e]+$/)
    expect(parseRequester(header)).toEqual({ kind: 'chat', name: name.toWellFormed() })
  },
)

test.each([
  ...['', 'agent', 'agent;', 'owner;You', 'person;You', 'agent;%', 'agent;%ff', `agent;${'x'.repeat(201)}`],
  `agent;${'%41'.repeat(5000)}`,
  ['agent;a', 'agent;b'],
  undefined,
])('%j names no requester', (header) => expect(parseRequester(header)).toBeUndefined())

test('the user is no requester, and tools are called by the chat within its turn', () => {
  expect(toRequester({ kind: 'person', name: 'You' }, 'action:1')).toBeUndefined()
  expect(toRequester({ kind: 'client', name: 'ci' }, 'call:1')).toEqual({ kind: 'program', name: 'ci' })
  expect(toRequester({ kind: 'tool', name: 'codex' }, 'call:1')).toEqual({ kind: 'agent', name: 'codex' })
  expect(toRequester({ kind: 'tool', name: 'Chat “A”' }, 'chat:1')).toEqual({ kind: 'chat', name: 'Chat “A”' })
  expect(toRequester({ kind: 'agent', name: 'Auto-renew' }, 'call:1')).toEqual({ kind: 'steward', name: 'Auto-renew' })
  expect(Requester.parse(toRequester({ kind: 'client', name: 'x'.repeat(999) }, 'call:1')).name).toHaveLength(200)
})
