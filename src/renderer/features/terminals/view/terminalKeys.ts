import type { FontStep } from './preferences/preferencesStore.ts'

export type TerminalKeyAction = 'copy' | 'paste' | 'preferences' | 'previous' | 'next' | FontStep

/** `canJump`: there are commands to navigate to, and no full-screen program uses the keys. */
export type KeyContext = { apple: boolean; hasSelection: boolean; canJump: boolean }

type Key = Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey' | 'shiftKey'>

/** Returns the action of a key. @returns undefined if the key belongs to the program */
export function findTerminalKeyAction(
  key: Key,
  { apple, hasSelection, canJump }: KeyContext,
): TerminalKeyAction | undefined {
  const command = apple ? key.metaKey && !key.ctrlKey : key.ctrlKey && !key.metaKey
  if (!command || key.altKey) return undefined
  const letter = key.key.toLowerCase()
  // Ctrl+C without a selection sends an interrupt.
  if (letter === 'c' && (key.shiftKey || hasSelection)) return 'copy'
  if (letter === 'v' && (apple || key.shiftKey)) return 'paste'
  if (key.key === '+' || key.key === '=') return 'larger'
  if (key.key === '-') return 'smaller'
  if (key.key === '0') return 'usual'
  if (key.key === ',') return 'preferences'
  if (canJump && !key.shiftKey && key.key === 'ArrowUp') return 'previous'
  if (canJump && !key.shiftKey && key.key === 'ArrowDown') return 'next'
  return undefined
}
