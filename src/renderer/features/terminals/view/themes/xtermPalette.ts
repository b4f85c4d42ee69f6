import type { ISearchOptions } from '@xterm/addon-search'
import type { ITheme } from '@xterm/xterm'
import type { TerminalTheme } from './terminalTheme.ts'

type Decorations = NonNullable<ISearchOptions['decorations']>

/** Converts a theme to the options of xterm.js and its search decorations. */
export function createXtermPalette({ kind, colors }: TerminalTheme): { theme: ITheme; matches: Decorations } {
  return { theme: { ...colors, cursorAccent: colors.background, ...over[kind] }, matches: decorations[kind] }
}

/** Translucent over text and background, so that one set suits all themes of a kind. */
const over: Record<TerminalTheme['kind'], ITheme> = {
  dark: {
    selectionBackground: '#6c88ff55',
    selectionInactiveBackground: '#6c88ff33',
    scrollbarSliderBackground: '#ffffff1f',
    scrollbarSliderHoverBackground: '#ffffff33',
    scrollbarSliderActiveBackground: '#ffffff42',
  },
  light: {
    selectionBackground: '#3557cf38',
    selectionInactiveBackground: '#3557cf22',
    scrollbarSliderBackground: '#1116211f',
    scrollbarSliderHoverBackground: '#11162133',
    scrollbarSliderActiveBackground: '#11162142',
  },
}

const decorations: Record<TerminalTheme['kind'], Decorations> = {
  dark: {
    matchBackground: '#4d4119',
    matchOverviewRuler: '#a8892b',
    activeMatchBackground: '#8a6714',
    activeMatchBorder: '#f3cf86',
    activeMatchColorOverviewRuler: '#f3cf86',
  },
  light: {
    matchBackground: '#fbe7b0',
    matchOverviewRuler: '#d2a12e',
    activeMatchBackground: '#f5c451',
    activeMatchBorder: '#855300',
    activeMatchColorOverviewRuler: '#855300',
  },
}
