import type { CarriedMark } from '#shared/terminalMarks.ts'

export type TerminalSize = { cols: number; rows: number }

/** Positions of commands once the first `at` bytes of a snapshot are drawn. */
export type SnapshotMarks = { key: string | null; at: number; marks: readonly CarriedMark[] }

/** Screen that a stream draws on. Calls take effect in order, after pending output has been parsed. */
export interface TerminalScreen {
  /** Discards all content, including unparsed output, resizes the screen and draws the snapshot. */
  redraw(size: TerminalSize, snapshot: Uint8Array, marks?: SnapshotMarks, drawn?: () => void): void
  /** Writes output. `parsed` is called once the output is on the screen. */
  write(output: Uint8Array, parsed: () => void): void
  resize(size: TerminalSize): void
}
