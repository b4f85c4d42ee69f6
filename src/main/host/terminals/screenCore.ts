import type { Terminal } from '@xterm/headless'
import { pieceBytes } from '../../../shared/terminalBounds.ts'
import { packedRows, type RowBuffer } from './packedRows.ts'

/**
 * The few inner parts of xterm.js 6.0 that its public interface does not offer, behind one door: parsing at once
 * instead of after a timer, and state that a snapshot must carry but the serializer leaves out.
 * `screen.test.ts` fails when a release moves one of them.
 */
export type ScreenCore = {
  /** Parses now. The timer of the public `write` would cost a millisecond for each read of the screen. */
  parse(bytes: Uint8Array): void
  /** Parses from the start on until a turn is over, and tells how many bytes that were. */
  parseTurn(bytes: Uint8Array): number
  resize(cols: number, rows: number): void
  /** Cheaper for work that reads much and changes nothing. */
  reading<T>(work: () => T): T
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
type Inner = {
  writeSync(bytes: Uint8Array): void
  readonly _inputHandler: { readonly _parser: { readonly currentState: number } }
  readonly buffer: { readonly scrollTop: number; readonly scrollBottom: number }
  readonly buffers: { readonly normal: RowBuffer & { readonly _memoryCleanupQueue: { clear(): void } } }
  readonly coreService: { readonly isCursorHidden: boolean }
  readonly coreMouseService: { readonly activeEncoding: string }
  readonly _charsetService: { readonly glevel: number; readonly _charsets: readonly (Charset | undefined)[] }
}

const ground = 0
/** Of one terminal, whatever its output costs: the others of the worker wait for it. */
const turnMs = 4

export function screenCore(terminal: Terminal): ScreenCore {
  // The exact version is pinned in package.json, and this is how that version is built.
  const inner = (terminal as unknown as { _core: Inner })._core
  const rows = packedRows(() => inner.buffers.normal)
  /** What scrolls out is packed after each piece, so that few rows are ever made. */
  const parseUntil = (bytes: Uint8Array, isOver: () => boolean): number => {
    const step = pieceBytes(terminal)
    let at = 0
    while (at < bytes.length) {
      inner.writeSync(bytes.subarray(at, at + step))
      rows.pack()
      at = Math.min(bytes.length, at + step)
      if (isOver()) break
    }
    return at
  }

  return {
    parse: (bytes) => void parseUntil(bytes, () => false),
    parseTurn(bytes) {
      const endMs = performance.now() + turnMs
      return parseUntil(bytes, () => performance.now() >= endMs)
    },
    resize(newCols, newRows) {
      terminal.resize(newCols, newRows)
      // It would unpack all rows later to give back the memory that packing gives back.
      inner.buffers.normal._memoryCleanupQueue.clear()
      rows.pack()
    },
    reading: rows.reading,
    atRest: () => inner._inputHandler._parser.currentState === ground,
    margins: () => ({ top: inner.buffer.scrollTop, bottom: inner.buffer.scrollBottom }),
    cursorHidden: () => inner.coreService.isCursorHidden,
    mouseEncoding: () => inner.coreMouseService.activeEncoding,
    drawsLines: (set) => inner._charsetService._charsets[set]?.q === '─',
    selectedSet: () => inner._charsetService.glevel,
  }
}
