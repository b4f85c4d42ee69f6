import { expect, test } from 'vitest'
import {
  findNeighbor,
  nothingSelected,
  Selection,
  withListedSandboxes,
  withListedTabs,
  withSandboxForgotten,
  withSandboxSelected,
  withTabClosed,
  withTabOpen,
  withTerminalSelected,
} from './selection.ts'

test('remembers the selected tab of each sandbox', () => {
  const selection = withTerminalSelected(withTerminalSelected(nothingSelected, 'a', 'p1'), 'b', 'p2')
  expect(withSandboxSelected(selection, 'a')).toEqual({ sandboxId: 'a', terminals: { a: 'p1', b: 'p2' }, closed: {} })
})

test('removes a deleted sandbox from the selection', () => {
  const selection = withTerminalSelected(withSandboxSelected(nothingSelected, 'a'), 'a', 'p1')
  expect(withSandboxForgotten(selection, 'a')).toEqual(nothingSelected)
  expect(withSandboxForgotten(selection, 'b')).toEqual(selection)
})

test('remembers each closed tab once until the service no longer lists it', () => {
  let selection = withTabClosed(withTabClosed(nothingSelected, 'a', 'p1'), 'a', 'p1')
  expect(selection.closed).toEqual({ a: ['p1'] })
  for (let index = 0; index < 300; index += 1) selection = withTabClosed(selection, 'a', `q${index}`)
  expect(selection.closed.a).toHaveLength(301)
  expect(Selection.parse(JSON.parse(JSON.stringify(selection)))).toEqual(selection)
  expect(withListedTabs(selection, 'a', ['p1', 'q7', 'new']).closed).toEqual({ a: ['p1', 'q7'] })
  expect(withListedTabs(selection, 'a', ['new']).closed).toEqual({})
  expect(withListedTabs(selection, 'b', [])).toBe(selection)
  expect(withTabOpen(withTabClosed(nothingSelected, 'a', 'p1'), 'a', 'p1')).toEqual(nothingSelected)
})

test('removes sandboxes that no longer exist', () => {
  const selection = withTabClosed(
    withTerminalSelected(withSandboxSelected(withTerminalSelected(nothingSelected, 'b', 'p2'), 'a'), 'a', 'p1'),
    'c',
    'p3',
  )
  expect(withListedSandboxes(selection, ['b'])).toEqual({ sandboxId: null, terminals: { b: 'p2' }, closed: {} })
  expect(withListedSandboxes(selection, ['a', 'b', 'c'])).toBe(selection)
})

test('migrates a selection stored by an earlier version', () => {
  expect(Selection.parse({ sandboxId: 'a', terminals: { a: 'p1' }, closed: ['p2'] })).toEqual({
    sandboxId: 'a',
    terminals: { a: 'p1' },
    closed: {},
  })
})

test('selects the next item after a removed one or the previous at the end', () => {
  expect(findNeighbor(['a', 'b', 'c'], 'b')).toBe('c')
  expect(findNeighbor(['a', 'b', 'c'], 'c')).toBe('b')
  expect(findNeighbor(['a'], 'a')).toBeUndefined()
  expect(findNeighbor(['a', 'b'], 'gone')).toBe('b')
})
