import { expect, test } from 'vitest'
import { terminalKeyAction } from './terminalKeys.ts'

const none = { ctrlKey: false, metaKey: false, altKey: false, shiftKey: false }
const ctrl = (key: string) => ({ ...none, key, ctrlKey: true })
const ctrlShift = (key: string) => ({ ...ctrl(key), shiftKey: true })
const command = (key: string) => ({ ...none, key, metaKey: true })
const elsewhere = { apple: false, hasSelection: false, canJump: true }
const mac = { apple: true, hasSelection: false, canJump: true }

test('Ctrl+C interrupts, and copies only what is selected', () => {
  expect(terminalKeyAction(ctrl('c'), elsewhere)).toBeUndefined()
  expect(terminalKeyAction(ctrl('c'), { ...elsewhere, hasSelection: true })).toBe('copy')
  expect(terminalKeyAction(ctrl('c'), { ...mac, hasSelection: true })).toBeUndefined()
  expect(terminalKeyAction(command('c'), { ...mac, hasSelection: true })).toBe('copy')
})

test('with Shift it copies and pastes', () => {
  expect(terminalKeyAction(ctrlShift('C'), elsewhere)).toBe('copy')
  expect(terminalKeyAction(ctrlShift('V'), elsewhere)).toBe('paste')
  expect(terminalKeyAction(ctrl('v'), elsewhere)).toBeUndefined()
  expect(terminalKeyAction(command('v'), mac)).toBe('paste')
})

test('plus, minus and zero change the size of the text', () => {
  expect([ctrl('='), ctrl('+'), ctrl('-'), ctrl('0')].map((key) => terminalKeyAction(key, elsewhere))).toEqual([
    'larger',
    'larger',
    'smaller',
    'usual',
  ])
})

test('arrows lead from command to command where there are any', () => {
  expect(terminalKeyAction(ctrl('ArrowUp'), elsewhere)).toBe('previous')
  expect(terminalKeyAction(command('ArrowDown'), mac)).toBe('next')
  expect(terminalKeyAction(ctrl('ArrowUp'), { ...elsewhere, canJump: false })).toBeUndefined()
  expect(terminalKeyAction(ctrlShift('ArrowUp'), elsewhere)).toBeUndefined()
  expect(terminalKeyAction({ ...none, key: 'ArrowUp' }, elsewhere)).toBeUndefined()
})

test('a comma opens the preferences', () => {
  expect(terminalKeyAction(ctrl(','), elsewhere)).toBe('preferences')
  expect(terminalKeyAction(command(','), mac)).toBe('preferences')
})

test('everything else belongs to the program', () => {
  for (const key of ['k', 'r', 'd', 'z', '_']) expect(terminalKeyAction(ctrl(key), elsewhere)).toBeUndefined()
  expect(terminalKeyAction({ ...ctrl('c'), altKey: true }, { ...elsewhere, hasSelection: true })).toBeUndefined()
  expect(terminalKeyAction({ ...none, key: 'c' }, { ...elsewhere, hasSelection: true })).toBeUndefined()
})
