import { useSyncExternalStore } from 'react'
import { getTheme, onThemeChange, readThemeChoice, type Theme, type ThemeChoice } from './theme.ts'

/** Returns the current theme, for content that cannot be styled with tokens, such as a terminal's palette. */
export function useTheme(): Theme {
  return useSyncExternalStore(onThemeChange, getTheme)
}

export function useThemeChoice(): ThemeChoice {
  return useSyncExternalStore(onThemeChange, readThemeChoice)
}
