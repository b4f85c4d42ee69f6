import serializeAddon from '@xterm/addon-serialize'
import xterm from '@xterm/headless'
import type { TerminalColors } from '#shared/contract/terminalColors.ts'
import { terminalLimits } from '#shared/contract/terminals.ts'
import { boundTerminal, boundWidths } from '#shared/terminalBounds.ts'
import { type CarriedMark, createTerminalMarks } from '#shared/terminalMarks.ts'
import { colorAnswers } from './colorAnswers.ts'
import { createPlainBacklog } from './plainBacklog.ts'
import { createScreenCore } from './screenCore.ts'
import type { ScreenQuestion, ScreenReply, SnapshotMarks } from './screenMessages.ts'
import { buildModeSequences } from './screenModes.ts'
import { searchScreen } from './screenSearch.ts'
import { readWholeText, visibleText } from './screenText.ts'
import { watchTerminalNotices } from './terminalNotices.ts'
import { findColors, findPlainRun } from './unseenOutput.ts'
import { countUnfinished } from './wholeCharacters.ts'

/** A headless terminal emulator that turns output into rows of text. Lives in a worker. */
export type Screen = {
  /** Parses a bounded part of `bytes` from `offset`. @returns where it stopped */
  parse(bytes: Uint8Array, offset: number): number
  /**
   * Takes plain output without parsing it, or refuses it. Until `catchUp` has returned false, nothing else may be
   * parsed, resized or asked.
   */
  postpone(bytes: Uint8Array): boolean
  /** Parses some postponed output; false when none is left. */
  catchUp(): boolean
  resize(cols: number, rows: number): void
  /** Marks of commands from an earlier emulator. */
  takesMarks(marks: readonly CarriedMark[]): void
  /** Sets the colors reported to programs that query them. */
  draws(colors: TerminalColors): void
  reply(question: ScreenQuestion): ScreenReply
  /** Approximate memory of the scrollback, in bytes. */
  weigh(): number
  /** Drops the older half of the scrollback. */
  dropOldest(): void
  close(): void
}

type ScreenOptions = {
  cols: number
  rows: number
  /** Distinguishes the shell's own marks from forged ones. */
  marksKey?: string | undefined
  /** The emulator's replies to the program, for example the cursor position. */
  onAnswer: (data: string) => void
  onTitle: (title: string) => void
  onBell: () => void
  onNotice: (text: string) => void
}

/** Bytes of one turn, about a millisecond of parsing. */
const turnBytes = 16 * 1024
const escapeByte = 0x1b
/** Longer unfinished escape sequences are not carried over to a new viewer. */
const maxTailBytes = 1024 * 1024
const alternateBegins = '\x1b[?1049h\x1b[H'
const nothing = new Uint8Array(0)

export function createScreen({ cols, rows, marksKey, onAnswer, onTitle, onBell, onNotice }: ScreenOptions): Screen {
  const terminal = new xterm.Terminal({
    cols,
    rows,
    scrollback: terminalLimits.scrollbackLines,
    allowProposedApi: true,
    logLevel: 'off',
  })
  const serializer = new serializeAddon.SerializeAddon()
  // The addon is typed for the browser terminal but uses only what the headless one also has.
  terminal.loadAddon(serializer as unknown as Parameters<typeof terminal.loadAddon>[0])
  boundWidths(terminal)
  boundTerminal(terminal)
  terminal.onData(onAnswer)
  terminal.onTitleChange(onTitle)
  terminal.onBell(onBell)
  watchTerminalNotices(terminal.parser, onNotice)
  const core = createScreenCore(terminal)
  const colors = colorAnswers(terminal.parser, onAnswer)
  const marks = createTerminalMarks(terminal)
  if (marksKey !== undefined) marks.use(marksKey)
  /** Bytes of an unfinished sequence or character. */
  let tail: Uint8Array = nothing
  let overlong = false
  /** The last chunk searched for a plain run, and where that run ended. */
  let searched: { bytes: Uint8Array; until: number } = { bytes: nothing, until: 0 }

  const backlog = createPlainBacklog()
  let late: { bytes: Uint8Array; parsed: number } | undefined

  const getMaxLines = (): number => terminalLimits.scrollbackLines + 2 * terminal.rows
  /** Whether plain text can only scroll the screen now. */
  const isSimple = (): boolean => {
    const { top, bottom } = core.margins()
    const whole = terminal.buffer.active.type === 'normal' && top === 0 && bottom === terminal.rows - 1
    return whole && tail.length === 0 && core.atRest()
  }

  const skipUnseen = (bytes: Uint8Array, offset: number): number => {
    if (searched.bytes === bytes && offset < searched.until) return offset
    if (!isSimple()) return offset
    const { until, visibleFrom } = findPlainRun(bytes, offset, getMaxLines())
    searched = { bytes, until }
    if (visibleFrom > offset) core.parse(findColors(bytes, offset, visibleFrom))
    return visibleFrom
  }

  const keepTail = (parsed: Uint8Array): void => {
    // A sequence whose beginning was dropped is not carried over.
    overlong &&= !core.atRest() && !parsed.includes(escapeByte)
    if (overlong) return
    const whole = tail.length === 0 ? parsed : concatBytes(tail, parsed)
    if (core.atRest()) {
      tail = whole.slice(whole.length - countUnfinished(whole))
      return
    }
    const begun = whole.subarray(Math.max(0, whole.lastIndexOf(escapeByte)))
    overlong = begun.length > maxTailBytes
    tail = overlong ? nothing : begun.slice()
  }

  const serializeScreen = (options: Parameters<typeof serializer.serialize>[0]): string =>
    withoutZeroMoves(serializer.serialize({ ...options, excludeModes: true }))

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

  /** On the normal screen, where the cursor stands at the place they count from. */
  const marksIn = (drawn: string): SnapshotMarks => {
    const end = terminal.buffer.active.type === 'normal' ? drawn.length : drawn.indexOf(alternateBegins)
    return { at: Buffer.byteLength(drawn.slice(0, end)), marks: marks.exportMarks() }
  }

  const snapshot = (scrollback: number): Pick<ScreenReply, 'bytes' | 'marks'> => {
    const drawn = serializeScreen({ scrollback })
    const bytes = new TextEncoder().encode(drawn + buildModeSequences(terminal, core))
    return { bytes: concatBytes(bytes, tail), marks: marksIn(drawn) }
  }

  const text = (question: Extract<ScreenQuestion, { kind: 'read' }>): string => {
    if (question.format === 'ansi') return ansi(question.full)
    return question.full ? readWholeText(terminal.buffer) : visibleText(terminal.buffer.active, terminal.rows)
  }

  const parse = (bytes: Uint8Array, offset: number): number => {
    const from = skipUnseen(bytes, offset)
    const turn = bytes.subarray(from, from + turnBytes)
    const part = turn.subarray(0, core.parseTurn(turn))
    keepTail(part)
    return from + part.length
  }

  const answer = (question: ScreenQuestion): Pick<ScreenReply, 'bytes' | 'marks' | 'matches'> => {
    if (question.kind === 'snapshot') return snapshot(question.scrollback)
    if (question.kind === 'read') return { bytes: new TextEncoder().encode(text(question)) }
    return { bytes: new Uint8Array(0), matches: searchScreen(terminal.buffer.active, question.query) }
  }

  const reply = (question: ScreenQuestion): ScreenReply => {
    const { cursorX, cursorY } = terminal.buffer.active
    return {
      ...answer(question),
      cols: terminal.cols,
      rows: terminal.rows,
      cursorPosition: { row: cursorY, col: Math.min(cursorX, terminal.cols - 1) },
    }
  }

  return {
    parse,
    postpone(bytes) {
      if (late || (backlog.isEmpty && (bytes.length < turnBytes || !isSimple()))) return false
      return backlog.take(bytes, getMaxLines())
    },
    catchUp() {
      if (!late && !backlog.isEmpty) late = { bytes: backlog.drain(), parsed: 0 }
      if (!late) return false
      late.parsed = parse(late.bytes, late.parsed)
      if (late.parsed === late.bytes.length) late = undefined
      return true
    },
    resize: core.resize,
    takesMarks: marks.take,
    draws: colors.use,
    reply: (question) => core.reading(() => reply(question)),
    weigh: core.weigh,
    dropOldest: core.dropOldest,
    close: () => terminal.dispose(),
  }
}

function concatBytes(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(first.length + second.length)
  both.set(first)
  both.set(second, first.length)
  return both
}

/** The serializer writes moves by 0 columns, which terminals read as 1. */
function withoutZeroMoves(drawn: string): string {
  return drawn.replaceAll('\x1b[0C', '').replaceAll('\x1b[0D', '')
}
