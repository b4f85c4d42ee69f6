import { expect, test } from 'vitest'
import { findTerminalKeyAction } from './terminalKeys.ts'

const none = { ctrlKey: false, metaKey: false, altKey: false, shiftKey: false }
const ctrl = (key: string) => ({ ...none, key, ctrlKey: true })
const ctrlShift = (key: string) => ({ ...ctrl(key), shiftKey: true })
const command = (key: string) => ({ ...none, key, metaKey: true })
const elsewhere = { apple: false, hasSelection: false, canJump: true }
const mac = { apple: true, hasSelection: false, canJump: true }

test('Ctrl+C interrupts and copies only with a selection', () => {
  expect(findTerminalKeyAction(ctrl('c'), elsewhere)).toBeUndefined()
  expect(findTerminalKeyAction(ctrl('c'), { ...elsewhere, hasSelection: true })).toBe('copy')
  expect(findTerminalKeyAction(ctrl('c'), { ...mac, hasSelection: true })).toBeUndefined()
  expect(findTerminalKeyAction(command('c'), { ...mac, hasSelection: true })).toBe('copy')
})

test('copies and pastes with Shift', () => {
  expect(findTerminalKeyAction(ctrlShift('C'), elsewhere)).toBe('copy')
  expect(findTerminalKeyAction(ctrlShift('V'), elsewhere)).toBe('paste')
  expect(findTerminalKeyAction(ctrl('v'), elsewhere)).toBeUndefined()
  expect(findTerminalKeyAction(command('v'), mac)).toBe('paste')
})

test('plus, minus and zero change the font size', () => {
  expect([ctrl('='), ctrl('+'), ctrl('-'), ctrl('0')].map((key) => findTerminalKeyAction(key, elsewhere))).toEqual([
    'larger',
    'larger',
    'smaller',
    'usual',
  ])
})

test('arrows jump between commands where there are any', () => {
  expect(findTerminalKeyAction(ctrl('ArrowUp'), elsewhere)).toBe('previous')
  expect(findTerminalKeyAction(command('ArrowDown'), mac)).toBe('next')
  expect(findTerminalKeyAction(ctrl('ArrowUp'), { ...elsewhere, canJump: false })).toBeUndefined()
  expect(findTerminalKeyAction(ctrlShift('ArrowUp'), elsewhere)).toBeUndefined()
  expect(findTerminalKeyAction({ ...none, key: 'ArrowUp' }, elsewhere)).toBeUndefined()
})

test('a comma opens the preferences', () => {
  expect(findTerminalKeyAction(ctrl(','), elsewhere)).toBe('preferences')
  expect(findTerminalKeyAction(command(','), mac)).toBe('preferences')
})

test('leaves all other keys to the program', () => {
  for (const key of ['k', 'r', 'd', 'z', '_']) expect(findTerminalKeyAction(ctrl(key), elsewhere)).toBeUndefined()
  expect(findTerminalKeyAction({ ...ctrl('c'), altKey: true }, { ...elsewhere, hasSelection: true })).toBeUndefined()
  expect(findTerminalKeyAction({ ...none, key: 'c' }, { ...elsewhere, hasSelection: true })).toBeUndefined()
})
