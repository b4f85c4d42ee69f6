/**
 * Parsed shortcut. Notation: `mod+k`, `ctrl+shift+f`, `?`, `alt+arrowup`. `mod` is ⌘ on Apple systems and Ctrl
 * elsewhere. A comma and a space separate alternatives: `mod+k, mod+shift+p`. `g t` is a key sequence; its first key,
 * the lead, is an unmodified letter.
 */
export type Shortcut = {
  lead?: string
  key: string
  ctrl: boolean
  meta: boolean
  alt: boolean
  shift: boolean
}

export type KeyPress = Pick<KeyboardEvent, 'key' | 'code' | 'ctrlKey' | 'metaKey' | 'altKey' | 'shiftKey'>

export type Keyboard = { apple: boolean }

/** Focused element, which determines the active shortcuts. */
export type Focus = 'page' | 'text' | 'terminal' | 'dialog'

export function detectKeyboard(): Keyboard {
  return { apple: /mac|iphone|ipad/i.test(navigator.userAgent) }
}

export function parseShortcuts(written: string, keyboard: Keyboard): Shortcut[] {
  return written.split(', ').map((one) => parseShortcut(one, keyboard))
}

export function matches(shortcut: Shortcut, press: KeyPress): boolean {
  return (
    shortcut.ctrl === press.ctrlKey &&
    shortcut.meta === press.metaKey &&
    shortcut.alt === press.altKey &&
    matchesKey(shortcut, press)
  )
}

/**
 * Whether a shortcut is active for the focused element. Terminals: only shortcuts that a terminal cannot use, with ⌘,
 * or with Ctrl and Shift. Text fields: only shortcuts that type no text. Dialogs and menus: none, because they handle
 * keys themselves.
 */
export function isUsableIn(focus: Focus, shortcut: Shortcut): boolean {
  if (focus === 'page') return true
  if (focus === 'dialog') return false
  if (focus === 'terminal') return shortcut.meta || (shortcut.ctrl && shortcut.shift)
  return shortcut.ctrl || shortcut.meta
}

/**
 * Returns the kind of the focused element. Elements that contain a terminal must be marked with `data-keys="terminal"`.
 */
export function findFocus(target: EventTarget | null): Focus {
  if (!(target instanceof Element)) return 'page'
  if (target.closest('[data-keys="terminal"]')) return 'terminal'
  if (target.closest('[role="dialog"], [role="alertdialog"], [role="menu"], [role="listbox"]')) return 'dialog'
  return target.closest('input, textarea, select, [contenteditable="true"]') ? 'text' : 'page'
}

/** Returns the keys of the first alternative as labeled on the keyboard: `['Ctrl', 'Shift', 'F']`, `['⌘', 'K']`. */
export function formatKeys(written: string, keyboard: Keyboard): string[] {
  const [first = written] = written.split(', ')
  return first.split(' ').flatMap((keys) => splitKeys(keys).map((key) => formatKey(key, keyboard)))
}

const modifiers = ['mod', 'ctrl', 'meta', 'alt', 'shift']

function parseShortcut(written: string, keyboard: Keyboard): Shortcut {
  const [, lead, pressed = ''] = /^(?:([a-z]) )?(.+)$/.exec(written) ?? []
  const parts = splitKeys(pressed)
  const modifierSet = new Set(
    parts.slice(0, -1).map((part) => (part === 'mod' ? (keyboard.apple ? 'meta' : 'ctrl') : part)),
  )
  const key = parts.at(-1) ?? ''
  if (key === '' || [...modifierSet].some((part) => !modifiers.includes(part))) {
    throw new Error(`“${written}” is not a shortcut`)
  }
  return {
    ...(lead !== undefined && { lead }),
    key,
    ctrl: modifierSet.has('ctrl'),
    meta: modifierSet.has('meta'),
    alt: modifierSet.has('alt'),
    shift: modifierSet.has('shift'),
  }
}

/** The key `+` is written last: `mod++`. */
function splitKeys(written: string): string[] {
  const parts = written.toLowerCase().split('+')
  return written.endsWith('+') ? [...parts.slice(0, -2), '+'] : parts
}

function matchesKey({ key, shift }: Shortcut, press: KeyPress): boolean {
  // Whether a symbol such as `?` requires Shift depends on the keyboard layout, so the resulting character is compared.
  if (/^[^a-z0-9]$/.test(key)) return press.key === key
  if (shift !== press.shiftKey) return false
  if (press.key.toLowerCase() === key) return true
  // Shift turns digits into symbols, and non-Latin layouts produce no Latin letters, so the physical key is compared.
  const latin = /^[\x20-\x7e]$/.test(press.key)
  if (/^[0-9]$/.test(key)) return press.code === `Digit${key}`
  return !latin && press.code === `Key${key.toUpperCase()}`
}

const names: Record<string, string> = {
  ctrl: 'Ctrl',
  alt: 'Alt',
  shift: 'Shift',
  meta: 'Meta',
  arrowup: '↑',
  arrowdown: '↓',
  arrowleft: '←',
  arrowright: '→',
  enter: '↵',
  escape: 'Esc',
  delete: 'Del',
  backspace: '⌫',
  pageup: 'PgUp',
  pagedown: 'PgDn',
  tab: 'Tab',
}
const appleNames: Record<string, string> = { ctrl: '⌃', alt: '⌥', shift: '⇧', meta: '⌘' }

function formatKey(key: string, { apple }: Keyboard): string {
  const real = key === 'mod' ? (apple ? 'meta' : 'ctrl') : key
  return (apple ? appleNames[real] : undefined) ?? names[real] ?? real.toUpperCase()
}
