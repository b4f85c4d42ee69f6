import serializeAddon from '@xterm/addon-serialize'
import type { Terminal } from '@xterm/headless'
import type { TerminalMarks } from '#shared/terminalMarks.ts'
import type { ScreenCore } from './screenCore.ts'
import { buildModeSequences } from './screenModes.ts'
import type { ScreenQuery, ScreenReply, SnapshotMarks } from './screenQuery.ts'
import { searchScreen } from './screenSearch.ts'
import { readVisibleText, readWholeText } from './screenText.ts'

export type ScreenReader = {
  reply(question: ScreenQuery): ScreenReply
}

type ReaderParts = {
  core: ScreenCore
  marks: Pick<TerminalMarks, 'exportMarks'>
  /** Returns the bytes of an incomplete sequence or character. */
  getTail: () => Uint8Array
}

const alternateBegins = '\x1b[?1049h\x1b[H'

export function createScreenReader(terminal: Terminal, { core, marks, getTail }: ReaderParts): ScreenReader {
  const serializer = new serializeAddon.SerializeAddon()
  // The addon is typed for the browser terminal but uses only APIs that the headless terminal shares.
  terminal.loadAddon(serializer as unknown as Parameters<typeof terminal.loadAddon>[0])

  const serializeScreen = (options: Parameters<typeof serializer.serialize>[0]): string =>
    stripZeroMoves(serializer.serialize({ ...options, excludeModes: true }))

  const ansi = (full: boolean): string => {
    const { active, normal } = terminal.buffer
    if (active.type === 'normal') {
      return serializeScreen({ range: { start: full ? 0 : active.baseY, end: active.length - 1 } })
    }
    const rowsAbove = full ? normal.baseY : 0
    const both = serializeScreen({ range: { start: 0, end: Math.max(0, rowsAbove - 1) } })
    const begins = both.indexOf(alternateBegins)
    const screen = both.slice(begins + alternateBegins.length)
    return rowsAbove > 0 ? `${both.slice(0, begins)}\x1b[m\r\n${screen}` : screen
  }

  /** Returns the command marks, positioned at the end of the normal screen, because they are relative to its cursor. */
  const marksIn = (drawn: string): SnapshotMarks => {
    const end = terminal.buffer.active.type === 'normal' ? drawn.length : drawn.indexOf(alternateBegins)
    return { at: Buffer.byteLength(drawn.slice(0, end)), marks: marks.exportMarks() }
  }

  const snapshot = (scrollback: number): Pick<ScreenReply, 'bytes' | 'marks'> => {
    const drawn = serializeScreen({ scrollback })
    const bytes = new TextEncoder().encode(drawn + buildModeSequences(terminal, core))
    return { bytes: concatBytes(bytes, getTail()), marks: marksIn(drawn) }
  }

  const text = (question: Extract<ScreenQuery, { kind: 'read' }>): string => {
    if (question.format === 'ansi') return ansi(question.full)
    return question.full ? readWholeText(terminal.buffer) : readVisibleText(terminal.buffer.active, terminal.rows)
  }

  const answer = (question: ScreenQuery): Pick<ScreenReply, 'bytes' | 'marks' | 'matches'> => {
    if (question.kind === 'snapshot') return snapshot(question.scrollback)
    if (question.kind === 'read') return { bytes: new TextEncoder().encode(text(question)) }
    return { bytes: new Uint8Array(0), matches: searchScreen(terminal.buffer.active, question.query) }
  }

  return {
    reply(question) {
      const { cursorX, cursorY } = terminal.buffer.active
      return {
        ...answer(question),
        cols: terminal.cols,
        rows: terminal.rows,
        cursorPosition: { row: cursorY, col: Math.min(cursorX, terminal.cols - 1) },
      }
    },
  }
}

export function concatBytes(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(first.length + second.length)
  both.set(first)
  both.set(second, first.length)
  return both
}

/** Removes cursor moves by 0 columns, which the serializer writes and terminals interpret as 1. */
function stripZeroMoves(drawn: string): string {
  return drawn.replaceAll('\x1b[0C', '').replaceAll('\x1b[0D', '')
}
