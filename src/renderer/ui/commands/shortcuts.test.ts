import { expect, test } from 'vitest'
import { formatKeys, isUsableIn, type KeyPress, matches, parseShortcuts } from './shortcuts.ts'

const apple = { apple: true }
const other = { apple: false }

function press(key: string, modifiers: Partial<KeyPress> = {}): KeyPress {
  return {
    key,
    code: `Key${key.toUpperCase()}`,
    ctrlKey: false,
    metaKey: false,
    altKey: false,
    shiftKey: false,
    ...modifiers,
  }
}

function hits(written: string, pressed: KeyPress, keyboard = other): boolean {
  return parseShortcuts(written, keyboard).some((shortcut) => matches(shortcut, pressed))
}

test('`mod` matches Ctrl, or ⌘ on Apple platforms', () => {
  expect(hits('mod+k', press('k', { ctrlKey: true }))).toBe(true)
  expect(hits('mod+k', press('k', { metaKey: true }))).toBe(false)
  expect(hits('mod+k', press('k', { metaKey: true }), apple)).toBe(true)
  expect(hits('mod+k', press('k', { ctrlKey: true }), apple)).toBe(false)
})

test('matches only the exact key combination', () => {
  expect(hits('mod+k', press('k'))).toBe(false)
  expect(hits('mod+k', press('K', { ctrlKey: true, shiftKey: true }))).toBe(false)
  expect(hits('mod+shift+k', press('K', { ctrlKey: true, shiftKey: true }))).toBe(true)
  expect(hits('c', press('c'))).toBe(true)
  expect(hits('c', press('c', { altKey: true }))).toBe(false)
})

test('matches either of two alternatives', () => {
  const both = 'mod+k, mod+shift+p'
  expect(hits(both, press('k', { ctrlKey: true }))).toBe(true)
  expect(hits(both, press('P', { ctrlKey: true, shiftKey: true }))).toBe(true)
  expect(hits(both, press('p', { ctrlKey: true }))).toBe(false)
})

test('matches a symbol by its printed character regardless of the physical keys', () => {
  expect(hits('?', press('?', { code: 'Slash', shiftKey: true }))).toBe(true)
  expect(hits('?', press('?', { code: 'KeyM' }))).toBe(true)
  expect(hits('mod++', press('+', { code: 'Equal', ctrlKey: true, shiftKey: true }))).toBe(true)
})

test('matches letters and digits by key code on non-Latin layouts and with Shift', () => {
  expect(hits('mod+k', press('л', { code: 'KeyK', ctrlKey: true }))).toBe(true)
  expect(hits('mod+shift+1', press('!', { code: 'Digit1', ctrlKey: true, shiftKey: true }))).toBe(true)
  expect(hits('alt+1', press('¡', { code: 'Digit1', altKey: true }))).toBe(true)
  // On Dvorak, the physical K key types T, so Ctrl+T must not match Ctrl+K.
  expect(hits('mod+k', press('t', { code: 'KeyK', ctrlKey: true }))).toBe(false)
})

test('does not claim keys that a terminal can use', () => {
  const inTerminal = (written: string, keyboard = other) =>
    parseShortcuts(written, keyboard).map((shortcut) => isUsableIn('terminal', shortcut))
  expect(inTerminal('mod+k, mod+shift+p')).toEqual([false, true])
  expect(inTerminal('mod+k, mod+shift+p', apple)).toEqual([true, true])
  expect(inTerminal('?')).toEqual([false])
  expect(inTerminal('alt+1')).toEqual([false])
  expect(inTerminal('ctrl+k', apple)).toEqual([false])
})

test('ignores plain keys in text fields and all keys in dialogs', () => {
  const [plain, withMod] = parseShortcuts('c, mod+k', other)
  expect([plain, withMod].map((value) => value && isUsableIn('text', value))).toEqual([false, true])
  expect([plain, withMod].map((value) => value && isUsableIn('dialog', value))).toEqual([false, false])
  expect([plain, withMod].map((value) => value && isUsableIn('page', value))).toEqual([true, true])
})

test('formats the first alternative for the platform', () => {
  expect(formatKeys('mod+shift+p, mod+k', other)).toEqual(['Ctrl', 'Shift', 'P'])
  expect(formatKeys('mod+shift+p', apple)).toEqual(['⌘', '⇧', 'P'])
  expect(formatKeys('alt+arrowup', other)).toEqual(['Alt', '↑'])
  expect(formatKeys('mod++', other)).toEqual(['Ctrl', '+'])
})

test('rejects an invalid shortcut', () => {
  expect(() => parseShortcuts('hyper+k', other)).toThrow('hyper+k')
  expect(() => parseShortcuts('', other)).toThrow('not a shortcut')
})

test('parses a sequence of a plain lead letter and a second key', () => {
  const [first] = parseShortcuts('g t', other)
  expect(first).toMatchObject({ lead: 'g', key: 't', ctrl: false })
  expect(parseShortcuts('alt+1, g t', other).map(({ lead, key }) => [lead, key])).toEqual([
    [undefined, '1'],
    ['g', 't'],
  ])
  expect(formatKeys('g t', other)).toEqual(['G', 'T'])
})
