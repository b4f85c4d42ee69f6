import type { CarriedMark } from '#shared/terminalMarks.ts'
import type { SearchQuery } from './parseSearchExpression.ts'
import type { ScreenMatches } from './screenSearch.ts'

export type ScreenQuery =
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
