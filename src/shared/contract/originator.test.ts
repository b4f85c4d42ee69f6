import { expect, test } from 'vitest'
import { formatOriginator, Originator, parseOriginator, toOriginator } from './originator.ts'

test.each(['claude-code', 'Chat “Мой сайт; 100%”', ' ', 'a\r\nb', '\ud800x'])(
  'round-trips the name %j through a header',
  (name) => {
    const header = formatOriginator({ kind: 'chat', name })
    expect(header).toMatch(/^[\x21-\x7e]+$/)
    expect(parseOriginator(header)).toEqual({ kind: 'chat', name: name.toWellFormed() })
  },
)

test.each([
  ...['', 'agent', 'agent;', 'owner;You', 'person;You', 'agent;%', 'agent;%ff', `agent;${'x'.repeat(201)}`],
  `agent;${'%41'.repeat(5000)}`,
  ['agent;a', 'agent;b'],
  undefined,
])('rejects %j as an originator header', (header) => expect(parseOriginator(header)).toBeUndefined())

test('returns no originator for the user, and the chat for tools in its turn', () => {
  expect(toOriginator({ kind: 'person', name: 'You' }, 'action:1')).toBeUndefined()
  expect(toOriginator({ kind: 'client', name: 'ci' }, 'call:1')).toEqual({ kind: 'program', name: 'ci' })
  expect(toOriginator({ kind: 'tool', name: 'codex' }, 'call:1')).toEqual({ kind: 'agent', name: 'codex' })
  expect(toOriginator({ kind: 'tool', name: 'Chat “A”' }, 'chat:1')).toEqual({ kind: 'chat', name: 'Chat “A”' })
  expect(toOriginator({ kind: 'agent', name: 'Auto-renew' }, 'call:1')).toEqual({ kind: 'steward', name: 'Auto-renew' })
  expect(Originator.parse(toOriginator({ kind: 'client', name: 'x'.repeat(999) }, 'call:1')).name).toHaveLength(200)
})
