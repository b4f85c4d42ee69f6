import { expect, test } from 'vitest'
import type { TerminalList } from '#renderer/api/terminals/terminalList.ts'
import { buildTabLabels, getCommandName } from './tabLabels.ts'

const terminals = (...options: { command: string; title?: string; process?: string; name?: string }[]) =>
  options.map(({ command, title = null, process = null, name = null }, index) => ({
    session_id: `pty_${index}`,
    command,
    title,
    process,
    name,
  })) as never as TerminalList

test('each tab has a name of its own', () => {
  const labels = buildTabLabels(
    terminals(
      { command: 'bash -l' },
      { command: 'bash -l' },
      { command: 'vim a', title: 'a - VIM' },
      { command: 'bash' },
    ),
  )
  expect([...labels.values()]).toEqual(['bash', 'bash (2)', 'a - VIM', 'bash (3)'])
})

test('a program in the foreground gives its name while it has no title', () => {
  const labels = buildTabLabels(
    terminals(
      { command: 'bash', process: 'vim' },
      { command: 'bash' },
      { command: 'bash', process: 'vim', title: 'notes' },
    ),
  )
  expect([...labels.values()]).toEqual(['vim', 'bash (2)', 'notes'])
})

test('a name that a person gave comes before everything', () => {
  const labels = buildTabLabels(terminals({ command: 'bash', title: 'vim', name: 'notes' }, { command: 'notes' }))
  expect([...labels.values()]).toEqual(['notes', 'notes (2)'])
})

test('a name or a title changes the number of no other terminal', () => {
  const bashes = [{ command: 'bash' }, { command: 'bash' }, { command: 'bash' }]
  const listLabels = (...options: Parameters<typeof terminals>) => [...buildTabLabels(terminals(...options)).values()]
  expect(listLabels(...bashes)).toEqual(['bash', 'bash (2)', 'bash (3)'])
  expect(listLabels({ command: 'bash', name: 'logs' }, ...bashes.slice(1))).toEqual(['logs', 'bash (2)', 'bash (3)'])
  expect(listLabels({ command: 'bash', title: 'vim' }, ...bashes.slice(1))).toEqual(['vim', 'bash (2)', 'bash (3)'])
})

test('a title is one line, and an empty one counts for nothing', () => {
  const labels = buildTabLabels(
    terminals({ command: 'top', title: ' \u202e ' }, { command: 'x', title: 'two\nlines\u0007' }),
  )
  expect([...labels.values()]).toEqual(['top', 'two lines'])
})

test.each([
  ['bash -l', 'bash'],
  ['/usr/bin/python3 -i', 'python3'],
  ['FOO=1 BAR=2 make test', 'make'],
  ['FOO=1', 'FOO=1'],
  ['  htop  ', 'htop'],
  ['./', './'],
])('%s is called %s', (command, name) => {
  expect(getCommandName(command)).toBe(name)
})
