import { z } from 'zod'
import { persistValue } from '../../storage/persistValue.ts'

const ThemeChoice = z.enum(['system', 'light', 'dark'])
export type ThemeChoice = z.infer<typeof ThemeChoice>
export type Theme = 'light' | 'dark'

const storedTheme = persistValue('steward.theme', ThemeChoice, 'system')
const changed = 'steward:theme'

export function readThemeChoice(): ThemeChoice {
  return storedTheme.read()
}

export function chooseTheme(choice: ThemeChoice): void {
  if (choice === 'system') storedTheme.clear()
  else storedTheme.write(choice)
  applyTheme()
}

export function getTheme(): Theme {
  const choice = readThemeChoice()
  if (choice !== 'system') return choice
  return getDarkModeQuery().matches ? 'dark' : 'light'
}

/** Calls `listener` after each change: by this window, another window or the system. */
export function onThemeChange(listener: () => void): () => void {
  const system = getDarkModeQuery()
  system.addEventListener('change', applyTheme)
  const unsubscribe = storedTheme.subscribe(applyTheme)
  window.addEventListener(changed, listener)
  return () => {
    system.removeEventListener('change', applyTheme)
    unsubscribe()
    window.removeEventListener(changed, listener)
  }
}

export function applyTheme(): void {
  document.documentElement.dataset.theme = getTheme()
  window.dispatchEvent(new Event(changed))
}

function getDarkModeQuery(): MediaQueryList {
  return window.matchMedia('(prefers-color-scheme: dark)')
}
