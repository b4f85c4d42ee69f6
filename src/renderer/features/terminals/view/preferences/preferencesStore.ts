import { useMemo, useSyncExternalStore } from 'react'
import { parsedPreferences, type TerminalPreferences, withinLimits } from './terminalPreferences.ts'

const storageKey = 'steward.terminal.preferences'
const changed = 'steward:terminal-preferences'

/** How terminals look and behave, the same in all windows of this person. */
export function useTerminalPreferences(): TerminalPreferences {
  const written = useSyncExternalStore(subscribe, () => localStorage.getItem(storageKey))
  return useMemo(() => parsedPreferences(written), [written])
}

export function readPreferences(): TerminalPreferences {
  return parsedPreferences(localStorage.getItem(storageKey))
}

export function changePreferences(change: Partial<TerminalPreferences>): void {
  localStorage.setItem(storageKey, JSON.stringify({ ...readPreferences(), ...change }))
  window.dispatchEvent(new Event(changed))
}

export function resetPreferences(): void {
  localStorage.removeItem(storageKey)
  window.dispatchEvent(new Event(changed))
}

export type FontStep = 'larger' | 'smaller' | 'usual'

export function changeFontSize(step: FontStep): void {
  const { fontSize } = readPreferences()
  const by = { larger: fontSize + 1, smaller: fontSize - 1, usual: Number.NaN }
  changePreferences({ fontSize: withinLimits(by[step]) })
}

function subscribe(listener: () => void): () => void {
  window.addEventListener(changed, listener)
  window.addEventListener('storage', listener)
  return () => {
    window.removeEventListener(changed, listener)
    window.removeEventListener('storage', listener)
  }
}
