import type { Theme } from '#renderer/ui/theme/theme.ts'

/** `#rrggbb`. Complete, because programs may query any of the colors. */
export type TerminalColors = Record<TerminalColor, string>

export const paletteColors = [
  'black',
  'red',
  'green',
  'yellow',
  'blue',
  'magenta',
  'cyan',
  'white',
  'brightBlack',
  'brightRed',
  'brightGreen',
  'brightYellow',
  'brightBlue',
  'brightMagenta',
  'brightCyan',
  'brightWhite',
] as const

export type TerminalColor = (typeof paletteColors)[number] | 'background' | 'foreground' | 'cursor'

export type TerminalTheme = { id: string; label: string; kind: Theme; colors: TerminalColors }
