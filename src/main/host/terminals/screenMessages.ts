import type { TerminalColors } from '#shared/contract/terminalColors.ts'
import type { CarriedMark } from '#shared/terminalMarks.ts'
import type { SearchQuery } from './parseSearchExpression.ts'
import type { ScreenMatches } from './screenSearch.ts'

/** Messages between the host's main thread and the workers that hold the screens. */
export type ToScreens =
  | { type: 'open'; screen: number; cols: number; rows: number; marksKey: string | undefined }
  /** `replay` marks old output. The emulator's replies to it are dropped. */
  | { type: 'output'; screen: number; bytes: Uint8Array; replay: boolean }
  | { type: 'resize'; screen: number; cols: number; rows: number }
  | { type: 'marks'; screen: number; marks: readonly CarriedMark[] }
  | { type: 'colors'; screen: number; colors: TerminalColors }
  | { type: 'ask'; screen: number; ask: number; question: ScreenQuestion }
  | { type: 'close'; screen: number }

export type FromScreens =
  | { type: 'parsed'; screen: number; bytes: number }
  | { type: 'answer'; screen: number; data: string }
  | { type: 'title'; screen: number; title: string }
  | { type: 'bell'; screen: number }
  /** Notification that a program sends to the user, possibly without text. */
  | { type: 'notice'; screen: number; text: string }
  /** The emulator failed and accepts no further messages. */
  | { type: 'broken'; screen: number; reason: string }
  | { type: 'reply'; ask: number; reply: ScreenReply }
  | { type: 'failed'; ask: number; reason: string }

export type ScreenQuestion =
  | { kind: 'read'; full: boolean; format: 'text' | 'ansi' }
  /** Sequences that draw the screen and `scrollback` lines above it on an empty terminal of the same size. */
  | { kind: 'snapshot'; scrollback: number }
  /** The reply contains `found` and no bytes. */
  | { kind: 'search'; query: SearchQuery }

export type ScreenReply = {
  bytes: Uint8Array<ArrayBuffer>
  cols: number
  rows: number
  cursorPosition: { row: number; col: number }
  matches?: ScreenMatches
  /** For a snapshot: command marks, positioned after its first `at` bytes. */
  marks?: SnapshotMarks
}

export type SnapshotMarks = { at: number; marks: CarriedMark[] }
