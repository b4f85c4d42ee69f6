/**
 * A shortcut in writing: `mod+k`, `ctrl+shift+f`, `?`, `alt+arrowup`. `mod` is ⌘ on Apple's systems and Ctrl elsewhere;
 * a comma and a blank part alternatives: `mod+k, mod+shift+p`. `g t` is one key after the other: its first, the lead, is
 * a plain letter.
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
 * In a terminal only what a terminal cannot use: with ⌘, or with Ctrl and Shift together. In a text field what types
 * nothing. In a dialog or menu none: it has its own keys.
 */
export function isUsableIn(focus: Focus, shortcut: Shortcut): boolean {
  if (focus === 'page') return true
  if (focus === 'dialog') return false
  if (focus === 'terminal') return shortcut.meta || (shortcut.ctrl && shortcut.shift)
  return shortcut.ctrl || shortcut.meta
}

/** Mark whatever hosts a terminal with `data-keys="terminal"`. */
export function findFocus(target: EventTarget | null): Focus {
  if (!(target instanceof Element)) return 'page'
  if (target.closest('[data-keys="terminal"]')) return 'terminal'
  if (target.closest('[role="dialog"], [role="alertdialog"], [role="menu"], [role="listbox"]')) return 'dialog'
  return target.closest('input, textarea, select, [contenteditable="true"]') ? 'text' : 'page'
}

/** The keys as they are printed on the keyboard, for the first alternative: `['Ctrl', 'Shift', 'F']`, `['⌘', 'K']`. */
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

/** `+` itself stands at the end: `mod++`. */
function splitKeys(written: string): string[] {
  const parts = written.toLowerCase().split('+')
  return written.endsWith('+') ? [...parts.slice(0, -2), '+'] : parts
}

function matchesKey({ key, shift }: Shortcut, press: KeyPress): boolean {
  // A sign such as `?` needs Shift on one keyboard and not on another: what it printed decides.
  if (/^[^a-z0-9]$/.test(key)) return press.key === key
  if (shift !== press.shiftKey) return false
  if (press.key.toLowerCase() === key) return true
  // Shift turns digits into signs, and other alphabets have no Latin letter: then the place of the key decides.
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
