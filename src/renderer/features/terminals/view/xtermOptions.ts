import type { ITerminalOptions } from '@xterm/xterm'
import type { TerminalPreferences } from './preferences/terminalPreferences.ts'
import type { TerminalTheme } from './themes/terminalTheme.ts'
import { createXtermPalette } from './themes/xtermPalette.ts'

export type Appearance = { theme: TerminalTheme; preferences: TerminalPreferences; calm: boolean }

const smoothScrollMs = 120

/** Converts preferences to options of xterm.js. `calm` means that the system prefers reduced motion. */
export function createXtermOptions({ theme, preferences, calm }: Appearance): ITerminalOptions {
  return {
    theme: createXtermPalette(theme).theme,
    fontSize: preferences.fontSize,
    lineHeight: preferences.lineHeight,
    letterSpacing: preferences.letterSpacing,
    minimumContrastRatio: preferences.minimumContrast,
    cursorStyle: preferences.cursorStyle,
    cursorBlink: preferences.cursorBlink && !calm,
    scrollback: preferences.scrollback,
    smoothScrollDuration: preferences.smoothScroll && !calm ? smoothScrollMs : 0,
    rightClickSelectsWord: preferences.rightClick === 'word',
    screenReaderMode: preferences.screenReader,
  }
}

export function prefersReducedMotion(): boolean {
  return window.matchMedia('(prefers-reduced-motion: reduce)').matches
}
