import type { TerminalRecord } from '#shared/contract/hostIpc.ts'
import type { SizeChange, TerminalFiles, TerminalMeta } from './terminalFiles.ts'

/** Record of a terminal, and metadata for redrawing it in a later process. */
export type SessionMeta = {
  readonly record: TerminalRecord
  readonly sizes: readonly SizeChange[]
  /** Cursor at which the screen got stuck. Only later output is drawn. */
  readonly drawnFrom: number | undefined
  readonly marksKey: string | undefined
  /** Publishes the changed record without saving it. */
  change(changed: Partial<TerminalRecord>): void
  addSize(size: SizeChange): void
  drawFrom(cursor: number): void
  /** Saves the record. Never rejects. */
  save(): Promise<void>
}

const maxSizes = 256

export function createSessionMeta(
  initial: TerminalMeta,
  { files, onChanged }: { files: TerminalFiles; onChanged: (record: TerminalRecord) => void },
): SessionMeta {
  let { record, sizes, drawnFrom } = initial
  const { marksKey } = initial
  return {
    get record() {
      return record
    },
    get sizes() {
      return sizes
    },
    get drawnFrom() {
      return drawnFrom
    },
    marksKey,
    change(changed) {
      record = { ...record, ...changed }
      onChanged(record)
    },
    addSize(size) {
      sizes = [...sizes, size].slice(-maxSizes)
    },
    drawFrom(cursor) {
      drawnFrom = cursor
    },
    save: () =>
      files.save({
        version: 1,
        record,
        sizes,
        ...(drawnFrom !== undefined && { drawnFrom }),
        ...(marksKey !== undefined && { marksKey }),
      }),
  }
}
