import type { Terminal } from '@xterm/headless'
import { computeChunkBytes } from '#shared/terminalBounds.ts'
import { createPackedRows, type RowBuffer } from './packedRows.ts'

/**
 * Encapsulates all access to private parts of xterm.js 6.0: synchronous parsing, and state that a snapshot needs but
 * the serializer omits. `screen.test.ts` fails if a release changes them.
 */
export type ScreenCore = {
  /** Parses synchronously. The timer of the public `write` would cost one millisecond per read of the screen. */
  parse(bytes: Uint8Array): void
  /** Parses for one turn. @returns the number of parsed bytes */
  parseTurn(bytes: Uint8Array): number
  resize(cols: number, rows: number): void
  /** Runs read-only work without unpacking rows. */
  reading<T>(work: () => T): T
  /** Approximate memory of the scrollback, in bytes. */
  weigh(): number
  /** Drops the older half of the scrollback. Must be called between turns. */
  dropOldest(): void
  /** Whether the parser is outside an escape sequence. */
  atRest(): boolean
  /** First and last row of the scrolling region, starting at 0. */
  margins(): { top: number; bottom: number }
  cursorHidden(): boolean
  mouseEncoding(): string
  /** Whether character set 0 to 3 is a line drawing set. */
  drawsLines(set: number): boolean
  selectedSet(): number
}

type Charset = Readonly<Record<string, string | undefined>>
type NormalBuffer = RowBuffer & {
  readonly lines: { trimStart(count: number): void }
  ybase: number
  ydisp: number
  readonly _memoryCleanupQueue: { clear(): void }
}
type Inner = {
  writeSync(bytes: Uint8Array): void
  readonly _inputHandler: { readonly _parser: { readonly currentState: number } }
  readonly buffer: { readonly scrollTop: number; readonly scrollBottom: number }
  readonly buffers: { readonly normal: NormalBuffer }
  readonly coreService: { readonly isCursorHidden: boolean }
  readonly coreMouseService: { readonly activeEncoding: string }
  readonly _charsetService: { readonly glevel: number; readonly _charsets: readonly (Charset | undefined)[] }
}

const ground = 0
/** Maximum duration of one turn, in milliseconds. Other terminals of the worker are blocked during a turn. */
const turnMs = 4

export function createScreenCore(terminal: Terminal): ScreenCore {
  // package.json pins the exact version, because its private structure is used here.
  const inner = (terminal as unknown as { _core: Inner })._core
  const rows = createPackedRows(() => inner.buffers.normal)
  /** Packs after each chunk, so that few unpacked rows exist at a time. */
  const parseUntil = (bytes: Uint8Array, isOver: () => boolean): number => {
    const step = computeChunkBytes(terminal)
    let offset = 0
    while (offset < bytes.length) {
      inner.writeSync(bytes.subarray(offset, offset + step))
      rows.pack()
      offset = Math.min(bytes.length, offset + step)
      if (isOver()) break
    }
    return offset
  }

  return {
    parse: (bytes) => void parseUntil(bytes, () => false),
    parseTurn(bytes) {
      const endMs = performance.now() + turnMs
      return parseUntil(bytes, () => performance.now() >= endMs)
    },
    resize(newCols, newRows) {
      terminal.resize(newCols, newRows)
      // This cleanup would unpack all rows to free memory that packing already frees.
      inner.buffers.normal._memoryCleanupQueue.clear()
      rows.pack()
    },
    reading: rows.reading,
    weigh: rows.weigh,
    dropOldest() {
      const { normal } = inner.buffers
      const count = Math.ceil(normal.ybase / 2)
      normal.lines.trimStart(count)
      normal.ybase -= count
      normal.ydisp = Math.max(0, normal.ydisp - count)
    },
    atRest: () => inner._inputHandler._parser.currentState === ground,
    margins: () => ({ top: inner.buffer.scrollTop, bottom: inner.buffer.scrollBottom }),
    cursorHidden: () => inner.coreService.isCursorHidden,
    mouseEncoding: () => inner.coreMouseService.activeEncoding,
    drawsLines: (set) => inner._charsetService._charsets[set]?.q === '─',
    selectedSet: () => inner._charsetService.glevel,
  }
}
