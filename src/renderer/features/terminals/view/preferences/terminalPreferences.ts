import { z } from 'zod'
import type { Theme } from '#renderer/ui/theme/theme.ts'
import { terminalLimits } from '#shared/contract/terminals.ts'
import { stewardDark, stewardLight } from '../themes/stewardThemes.ts'
import type { TerminalTheme } from '../themes/terminalTheme.ts'
import { terminalThemes } from '../themes/terminalThemes.ts'

export const fontSizes = { smallest: 8, usual: 13, largest: 32 } as const
export const lineHeights = [1, 1.1, 1.2, 1.35, 1.5] as const
export const letterSpacings = [-1, 0, 1, 2, 3] as const
export const contrasts = [1, 4.5, 7] as const
export const scrollbacks = [0, 1_000, 3_000, terminalLimits.scrollbackLines] as const

/** Invalid stored fields individually fall back to their defaults. */
export const TerminalPreferences = z.object({
  version: z.literal(1),
  /** `window` follows the theme of the window. */
  ground: z.enum(['window', 'dark', 'light']).catch('window'),
  darkTheme: createTheme('dark').catch(stewardDark.id),
  lightTheme: createTheme('light').catch(stewardLight.id),
  fontSize: z.int().min(fontSizes.smallest).max(fontSizes.largest).catch(fontSizes.usual),
  lineHeight: createNumberSchema(lineHeights).catch(1),
  /** In pixels. */
  letterSpacing: createNumberSchema(letterSpacings).catch(0),
  /** Minimum contrast to which colors set by programs are adjusted; 1 disables the adjustment. */
  minimumContrast: createNumberSchema(contrasts).catch(4.5),
  cursorStyle: z.enum(['block', 'bar', 'underline']).catch('block'),
  cursorBlink: z.boolean().catch(true),
  /** Number of lines. */
  scrollback: createNumberSchema(scrollbacks).catch(terminalLimits.scrollbackLines),
  smoothScroll: z.boolean().catch(false),
  copyOnSelect: z.boolean().catch(false),
  rightClick: z.enum(['menu', 'word', 'paste']).catch('menu'),
  pasteWarning: z.boolean().catch(true),
  /** Whether to ask for confirmation before closing a terminal with a running program. */
  closeWarning: z.boolean().catch(true),
  /** Policy for programs that set the clipboard (OSC 52). */
  programClipboard: z.enum(['ask', 'allow', 'refuse']).catch('ask'),
  bellMark: z.boolean().catch(true),
  bellSound: z.boolean().catch(false),
  bellNotification: z.boolean().catch(false),
  /** Notifications sent by programs with OSC 9, 99 and 777. */
  callNotification: z.boolean().catch(true),
  commandMarks: z.boolean().catch(true),
  screenReader: z.boolean().catch(false),
})
export type TerminalPreferences = z.infer<typeof TerminalPreferences>

export const defaultPreferences: TerminalPreferences = TerminalPreferences.parse({ version: 1 })

export function resolveTheme(preferences: TerminalPreferences, window: Theme): TerminalTheme {
  const kind = preferences.ground === 'window' ? window : preferences.ground
  const id = kind === 'dark' ? preferences.darkTheme : preferences.lightTheme
  return terminalThemes.find((theme) => theme.id === id) ?? (kind === 'dark' ? stewardDark : stewardLight)
}

export function clampFontSize(fontSize: number): number {
  if (!Number.isFinite(fontSize)) return fontSizes.usual
  return Math.min(fontSizes.largest, Math.max(fontSizes.smallest, Math.round(fontSize)))
}

function createTheme(kind: Theme) {
  return z.string().refine((id) => terminalThemes.some((theme) => theme.id === id && theme.kind === kind))
}

function createNumberSchema(values: readonly number[]) {
  return z.number().refine((value) => values.includes(value))
}
