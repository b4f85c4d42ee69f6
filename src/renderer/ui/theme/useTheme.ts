import { useSyncExternalStore } from 'react'
import { onThemeChange, presentTheme, readThemeChoice, type Theme, type ThemeChoice } from './theme.ts'

/** The theme on the screen, for what cannot be styled with tokens (a terminal's palette). */
export function useTheme(): Theme {
  return useSyncExternalStore(onThemeChange, presentTheme)
}

export function useThemeChoice(): ThemeChoice {
  return useSyncExternalStore(onThemeChange, readThemeChoice)
}
