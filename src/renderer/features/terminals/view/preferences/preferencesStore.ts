import { persistValue } from '#renderer/storage/persistValue.ts'
import { usePersisted } from '#renderer/storage/usePersisted.ts'
import { clampFontSize, defaultPreferences, TerminalPreferences } from './terminalPreferences.ts'

const storedPreferences = persistValue('steward.terminal.preferences', TerminalPreferences, defaultPreferences)

/** Returns the terminal preferences, shared by all windows of this user. */
export function useTerminalPreferences(): TerminalPreferences {
  return usePersisted(storedPreferences)
}

export function readPreferences(): TerminalPreferences {
  return storedPreferences.read()
}

export function changePreferences(change: Partial<TerminalPreferences>): void {
  storedPreferences.write({ ...readPreferences(), ...change })
}

export function resetPreferences(): void {
  storedPreferences.clear()
}

export type FontStep = 'larger' | 'smaller' | 'usual'

export function changeFontSize(step: FontStep): void {
  const { fontSize } = readPreferences()
  const by = { larger: fontSize + 1, smaller: fontSize - 1, usual: Number.NaN }
  changePreferences({ fontSize: clampFontSize(by[step]) })
}
