import type { Terminal } from '@xterm/headless'
import { computePieceBytes } from '#shared/terminalBounds.ts'
import { createPackedRows, type RowBuffer } from './packedRows.ts'

/**
 * The only access to private parts of xterm.js 6.0: synchronous parsing, and state that a snapshot needs but the
 * serializer leaves out.
 * `screen.test.ts` fails when a release moves one of them.
 */
export type ScreenCore = {
  /** Parses now. The timer of the public `write` would cost a millisecond for each read of the screen. */
  parse(bytes: Uint8Array): void
  /** Parses for one turn. @returns how many bytes were parsed */
  parseTurn(bytes: Uint8Array): number
  resize(cols: number, rows: number): void
  /** Runs work that only reads, without unpacking rows. */
  reading<T>(work: () => T): T
  /** Approximate memory of the scrollback, in bytes. */
  weigh(): number
  /** Drops the older half of the scrollback. Must be called between turns. */
  dropOldest(): void
  /** False in the middle of an escape sequence. */
  atRest(): boolean
  /** First and last row of the scrolling region, counted from 0. */
  margins(): { top: number; bottom: number }
  cursorHidden(): boolean
  mouseEncoding(): string
  /** True for the sets of characters 0 to 3 that draw lines. */
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
/** The longest turn of one terminal, while the other terminals of the worker wait. */
const turnMs = 4

export function createScreenCore(terminal: Terminal): ScreenCore {
  // package.json pins this exact version, whose private structure is used here.
  const inner = (terminal as unknown as { _core: Inner })._core
  const rows = createPackedRows(() => inner.buffers.normal)
  /** Packs after each piece, so that few unpacked rows ever exist. */
  const parseUntil = (bytes: Uint8Array, isOver: () => boolean): number => {
    const step = computePieceBytes(terminal)
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
      // The cleanup would unpack all rows to free the memory that packing already frees.
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
