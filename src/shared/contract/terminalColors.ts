import { z } from 'zod'

const Color = z.string().regex(/^#[0-9a-f]{6}$/i, 'must be #rrggbb')

/** Colors of a terminal, for programs that query them (OSC 4, 10, 11 and 12). */
export const TerminalColors = z.object({
  foreground: Color,
  background: Color,
  cursor: Color,
  /** The 16 ANSI colors, normal ones first. */
  palette: z.array(Color).length(16),
})
export type TerminalColors = z.infer<typeof TerminalColors>

/** Colors of terminals that have had no viewer: the dark theme of the window. */
export const defaultColors: TerminalColors = {
  foreground: '#e8e9eb',
  background: '#101113',
  cursor: '#e8e9eb',
  palette: [
    '#3a3e46',
    '#ff7b7b',
    '#67cf97',
    '#e3b65a',
    '#82a4ff',
    '#cb9ff7',
    '#58cdd6',
    '#c8ccd4',
    '#838995',
    '#ffa3a0',
    '#8fe3b4',
    '#f3cf86',
    '#a9c0ff',
    '#dfc0ff',
    '#8be3ea',
    '#f5f6f8',
  ],
}
