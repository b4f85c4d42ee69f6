import { expect, test } from 'vitest'
import {
  neighbourOf,
  nothingSelected,
  Selection,
  withSandboxForgotten,
  withSandboxSelected,
  withTabClosed,
  withTerminalSelected,
} from './selection.ts'

test('each sandbox remembers its own tab', () => {
  const selection = withTerminalSelected(withTerminalSelected(nothingSelected, 'a', 'p1'), 'b', 'p2')
  expect(withSandboxSelected(selection, 'a')).toEqual({ sandboxId: 'a', terminals: { a: 'p1', b: 'p2' }, closed: [] })
})

test('a deleted sandbox is forgotten', () => {
  const selection = withTerminalSelected(withSandboxSelected(nothingSelected, 'a'), 'a', 'p1')
  expect(withSandboxForgotten(selection, 'a')).toEqual(nothingSelected)
  expect(withSandboxForgotten(selection, 'b')).toEqual(selection)
})

test('closed tabs are remembered once each, and not without end', () => {
  let selection = withTabClosed(withTabClosed(nothingSelected, 'p1'), 'p1')
  expect(selection.closed).toEqual(['p1'])
  for (let index = 0; index < 300; index += 1) selection = withTabClosed(selection, `q${index}`)
  expect(selection.closed).toHaveLength(200)
  expect(selection.closed.at(-1)).toBe('q299')
  expect(Selection.parse(JSON.parse(JSON.stringify(selection)))).toEqual(selection)
})

test('after the one that leaves comes the next, at the end the one before', () => {
  expect(neighbourOf(['a', 'b', 'c'], 'b')).toBe('c')
  expect(neighbourOf(['a', 'b', 'c'], 'c')).toBe('b')
  expect(neighbourOf(['a'], 'a')).toBeUndefined()
  expect(neighbourOf(['a', 'b'], 'gone')).toBe('b')
})
