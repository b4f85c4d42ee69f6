import type { ISearchOptions } from '@xterm/addon-search'
import type { ITheme } from '@xterm/xterm'
import type { Theme } from '../../../ui/theme/theme.ts'

type Decorations = NonNullable<ISearchOptions['decorations']>
type Palette = { theme: ITheme; matches: Decorations }

const dark: Palette = {
  theme: {
    black: '#3a3e46',
    red: '#ff7b7b',
    green: '#67cf97',
    yellow: '#e3b65a',
    blue: '#82a4ff',
    magenta: '#cb9ff7',
    cyan: '#58cdd6',
    white: '#c8ccd4',
    brightBlack: '#767c88',
    brightRed: '#ffa3a0',
    brightGreen: '#8fe3b4',
    brightYellow: '#f3cf86',
    brightBlue: '#a9c0ff',
    brightMagenta: '#dfc0ff',
    brightCyan: '#8be3ea',
    brightWhite: '#f5f6f8',
    selectionBackground: '#6c88ff55',
    selectionInactiveBackground: '#6c88ff33',
    scrollbarSliderBackground: '#ffffff1f',
    scrollbarSliderHoverBackground: '#ffffff33',
    scrollbarSliderActiveBackground: '#ffffff42',
  },
  matches: {
    matchBackground: '#4d4119',
    matchOverviewRuler: '#a8892b',
    activeMatchBackground: '#8a6714',
    activeMatchBorder: '#f3cf86',
    activeMatchColorOverviewRuler: '#f3cf86',
  },
}

const light: Palette = {
  theme: {
    black: '#191b1f',
    red: '#b4232c',
    green: '#14713f',
    yellow: '#855300',
    blue: '#2f52c7',
    magenta: '#7b35b8',
    cyan: '#0b6b77',
    white: '#666c77',
    brightBlack: '#6d737e',
    brightRed: '#c72f39',
    brightGreen: '#177a46',
    brightYellow: '#8f5b00',
    brightBlue: '#3d63dd',
    brightMagenta: '#8d47cb',
    brightCyan: '#0f7683',
    brightWhite: '#3d424b',
    selectionBackground: '#3557cf38',
    selectionInactiveBackground: '#3557cf22',
    scrollbarSliderBackground: '#1116211f',
    scrollbarSliderHoverBackground: '#11162133',
    scrollbarSliderActiveBackground: '#11162142',
  },
  matches: {
    matchBackground: '#fbe7b0',
    matchOverviewRuler: '#d2a12e',
    activeMatchBackground: '#f5c451',
    activeMatchBorder: '#855300',
    activeMatchColorOverviewRuler: '#855300',
  },
}

type Around = Pick<CSSStyleDeclaration, 'color' | 'backgroundColor'>

/** The sixteen colours are the terminal's own; text and ground are those of the element it is in. */
export function terminalPalette(theme: Theme, { color, backgroundColor }: Around): Palette {
  const { theme: colours, matches } = theme === 'dark' ? dark : light
  const own = { background: backgroundColor, foreground: color, cursor: color, cursorAccent: backgroundColor }
  return { matches, theme: { ...colours, ...own } }
}
