/**
 * Shortcuts that do not conflict with shells, editors and browsers. Terminals leave only ⌘, or Ctrl with Shift, to the
 * app, and browsers reserve Ctrl+Shift with N, T or W.
 */
export const newSandboxKeys = 'mod+shift+s'
export const newTerminalKeys = 'mod+shift+enter'
export const closeTabKeys = 'mod+shift+x'
export const nextTabKeys = 'mod+shift+>'
export const previousTabKeys = 'mod+shift+<'
export const moveTabLeftKeys = 'mod+shift+pageup'
export const moveTabRightKeys = 'mod+shift+pagedown'
export const splitRightKeys = 'mod+shift+d'
export const splitDownKeys = 'mod+alt+shift+d'
export const focusKeys = {
  left: 'mod+shift+arrowleft',
  right: 'mod+shift+arrowright',
  up: 'mod+shift+arrowup',
  down: 'mod+shift+arrowdown',
} as const
export const growKeys = {
  left: 'mod+alt+shift+arrowleft',
  right: 'mod+alt+shift+arrowright',
  up: 'mod+alt+shift+arrowup',
  down: 'mod+alt+shift+arrowdown',
} as const
/** Extends the shortcut for searching one terminal: ⌘F on Apple systems, Ctrl+Shift+F elsewhere. */
export const searchAllKeys = { apple: 'meta+shift+f', other: 'ctrl+alt+shift+f' } as const
export const zoomKeys = 'mod+shift+z'
export const broadcastKeys = 'mod+shift+g'
export const listKeys = 'mod+shift+l, f6'
export const sideKeys = 'mod+shift+b'
export const preferencesKeys = 'mod+,'
export const previousCommandKeys = 'mod+arrowup'
export const nextCommandKeys = 'mod+arrowdown'
export const overviewKeys = 'mod+shift+o'
export const filesKeys = 'mod+shift+e'
