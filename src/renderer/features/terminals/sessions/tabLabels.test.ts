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

test('gives each tab a unique label', () => {
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

test('labels an untitled tab with its foreground program', () => {
  const labels = buildTabLabels(
    terminals(
      { command: 'bash', process: 'vim' },
      { command: 'bash' },
      { command: 'bash', process: 'vim', title: 'notes' },
    ),
  )
  expect([...labels.values()]).toEqual(['vim', 'bash (2)', 'notes'])
})

test('prefers a name set by the user', () => {
  const labels = buildTabLabels(terminals({ command: 'bash', title: 'vim', name: 'notes' }, { command: 'notes' }))
  expect([...labels.values()]).toEqual(['notes', 'notes (2)'])
})

test('a name or title does not change the numbers of other tabs', () => {
  const bashes = [{ command: 'bash' }, { command: 'bash' }, { command: 'bash' }]
  const listLabels = (...options: Parameters<typeof terminals>) => [...buildTabLabels(terminals(...options)).values()]
  expect(listLabels(...bashes)).toEqual(['bash', 'bash (2)', 'bash (3)'])
  expect(listLabels({ command: 'bash', name: 'logs' }, ...bashes.slice(1))).toEqual(['logs', 'bash (2)', 'bash (3)'])
  expect(listLabels({ command: 'bash', title: 'vim' }, ...bashes.slice(1))).toEqual(['vim', 'bash (2)', 'bash (3)'])
})

test('reduces a title to one line and ignores an empty one', () => {
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
])('the command %s is labeled %s', (command, name) => {
  expect(getCommandName(command)).toBe(name)
})
