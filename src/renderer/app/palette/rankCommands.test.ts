import { expect, test } from 'vitest'
import { type Rankable, rankCommands } from './rankCommands.ts'

const command = (title: string, { section = 'Window', keywords = [] as string[] } = {}): Rankable => ({
  id: `id of ${title}`,
  title,
  section,
  keywords,
})
const titles = (commands: readonly Rankable[], query: string, recent: readonly string[] = []) =>
  rankCommands(
    commands,
    query,
    recent.map((title) => `id of ${title}`),
  ).map(({ title }) => title)

const commands = [
  command('Stop everything', { section: 'Approvals', keywords: ['emergency', 'halt', 'switch'] }),
  command('Split right', { section: 'Terminal panes', keywords: ['pane', 'column'] }),
  command('Split down', { section: 'Terminal panes' }),
  command('Rename build-box…', { section: 'Sandboxes' }),
  command('Stop build-box', { section: 'Sandboxes' }),
  command('Use the dark theme', { keywords: ['appearance'] }),
  command('Go to Settings'),
  command('Settings: Policies', { section: 'Settings', keywords: ['rules'] }),
  command('build-box', { section: 'Sandbox' }),
]

test('ranks an exact title first', () => {
  const alike = [command('New terminal and more'), command('New terminal'), command('A new terminal')]
  expect(titles(alike, 'new terminal')).toEqual(['New terminal', 'New terminal and more', 'A new terminal'])
  for (const { title } of commands) expect(titles(commands, title)[0]).toBe(title)
})

test('ignores punctuation, case and accents', () => {
  expect(titles(commands, 'rename BUILD-box')[0]).toBe('Rename build-box…')
  expect(titles([command('Café')], 'cafe')).toEqual(['Café'])
})

test('ranks a title prefix above a prefix of a later word', () => {
  expect(titles(commands, 'sett')).toEqual(['Settings: Policies', 'Go to Settings'])
  expect(titles(commands, 'buil')).toEqual(['build-box', 'Rename build-box…', 'Stop build-box'])
})

test('matches abbreviated words and ranks matches in order first', () => {
  expect(titles(commands, 'sp ri')).toEqual(['Split right'])
  expect(titles([command('Right split'), command('Split right')], 'sp ri')).toEqual(['Split right', 'Right split'])
})

test('ranks keyword matches last', () => {
  expect(titles(commands, 'appear')).toEqual(['Use the dark theme'])
  expect(titles([command('Reload', { keywords: ['theme'] }), ...commands], 'theme')[0]).toBe('Use the dark theme')
})

test('does not match scattered letters or an id', () => {
  expect(titles(commands, 'split')).not.toContain('Stop everything')
  expect(titles(commands, 'rename')).not.toContain('Stop everything')
  expect(titles(commands, 'theme')).not.toContain('Stop everything')
  expect(titles(commands, 'stpevr')).toEqual([])
  expect(titles(commands, 'id of')).toEqual([])
})

test('ranks recent commands first among equals and without a query', () => {
  expect(titles(commands, 'split')).toEqual(['Split right', 'Split down'])
  expect(titles(commands, 'split', ['Split down'])[0]).toBe('Split down')
  expect(titles(commands, '', ['Go to Settings', 'build-box']).slice(0, 3)).toEqual([
    'Go to Settings',
    'build-box',
    'Stop everything',
  ])
  expect(titles(commands, 'stop', ['build-box'])[0]).toBe('Stop everything')
})
