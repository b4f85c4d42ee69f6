import type { changeFontSize } from './fontSize.ts'

export type TerminalKeyAction = 'copy' | 'paste' | Parameters<typeof changeFontSize>[0]

export type KeyContext = { apple: boolean; hasSelection: boolean }

type Key = Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey' | 'shiftKey'>

/** What a key does to the terminal itself; undefined goes to the program. */
export function terminalKeyAction(key: Key, { apple, hasSelection }: KeyContext): TerminalKeyAction | undefined {
  const command = apple ? key.metaKey && !key.ctrlKey : key.ctrlKey && !key.metaKey
  if (!command || key.altKey) return undefined
  const letter = key.key.toLowerCase()
  // With nothing selected Ctrl+C interrupts, as ever.
  if (letter === 'c' && (key.shiftKey || hasSelection)) return 'copy'
  if (letter === 'v' && (apple || key.shiftKey)) return 'paste'
  if (key.key === '+' || key.key === '=') return 'larger'
  if (key.key === '-') return 'smaller'
  if (key.key === '0') return 'usual'
  return undefined
}
