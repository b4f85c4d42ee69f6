import xterm from '@xterm/headless'
import type { TerminalColors } from '#shared/contract/terminalColors.ts'
import { terminalLimits } from '#shared/contract/terminals.ts'
import { limitTerminal, limitWidths } from '#shared/terminalBounds.ts'
import { type CarriedMark, createTerminalMarks } from '#shared/terminalMarks.ts'
import { createColorAnswers } from './colorAnswers.ts'
import { createPlainBacklog } from './plainBacklog.ts'
import { createScreenCore, type ScreenCore } from './screenCore.ts'
import type { ScreenQuery, ScreenReply } from './screenQuery.ts'
import { concatBytes, createScreenReader } from './screenReader.ts'
import { watchTerminalNotices } from './terminalNotices.ts'
import { findColors, findPlainRun } from './unseenOutput.ts'
import { countUnfinished } from './wholeCharacters.ts'

/** Headless terminal emulator that converts output to rows of text. Runs in a worker. */
export type Screen = {
  /** Parses a limited part of `bytes` from `offset`. @returns the end offset of the parsed part */
  parse(bytes: Uint8Array, offset: number): number
  /**
   * Accepts plain output without parsing it.
   * @returns whether the output was accepted. If so, call nothing else to parse, resize or query until `catchUp` has
   * returned false
   */
  postpone(bytes: Uint8Array): boolean
  /** Parses some postponed output. @returns false if none remains */
  catchUp(): boolean
  resize(cols: number, rows: number): void
  /** Restores command marks of a previous emulator. */
  takesMarks(marks: readonly CarriedMark[]): void
  /** Sets the colors reported to programs that query them. */
  draws(colors: TerminalColors): void
  reply(question: ScreenQuery): ScreenReply
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
  /** Replies of the emulator to the program, for example the cursor position. */
  onAnswer: (data: string) => void
  onTitle: (title: string) => void
  onBell: () => void
  onNotice: (text: string) => void
}

/** Maximum bytes per turn, about one millisecond of parsing. */
const turnBytes = 16 * 1024
const escapeByte = 0x1b
/** Longer incomplete escape sequences are not included in a snapshot. */
const maxTailBytes = 1024 * 1024
const emptyBytes = new Uint8Array(0)

export function createScreen({ cols, rows, marksKey, onAnswer, onTitle, onBell, onNotice }: ScreenOptions): Screen {
  const terminal = new xterm.Terminal({
    cols,
    rows,
    scrollback: terminalLimits.scrollbackLines,
    allowProposedApi: true,
    logLevel: 'off',
  })
  limitWidths(terminal)
  limitTerminal(terminal)
  terminal.onData(onAnswer)
  terminal.onTitleChange(onTitle)
  terminal.onBell(onBell)
  watchTerminalNotices(terminal.parser, onNotice)
  const core = createScreenCore(terminal)
  const colors = createColorAnswers(terminal.parser, onAnswer)
  const marks = createTerminalMarks(terminal)
  if (marksKey !== undefined) marks.use(marksKey)
  const tail = createTail(core)
  const reader = createScreenReader(terminal, { core, marks, getTail: tail.getBytes })
  /** Last chunk that was searched for a plain run, and the end of that run. */
  let searched: { bytes: Uint8Array; until: number } = { bytes: emptyBytes, until: 0 }

  const backlog = createPlainBacklog()
  let late: { bytes: Uint8Array; parsed: number } | undefined

  const getMaxLines = (): number => terminalLimits.scrollbackLines + 2 * terminal.rows
  /** Whether plain text can currently only scroll the screen. */
  const isSimple = (): boolean => {
    const { top, bottom } = core.margins()
    const whole = terminal.buffer.active.type === 'normal' && top === 0 && bottom === terminal.rows - 1
    return whole && tail.getBytes().length === 0 && core.atRest()
  }

  const skipUnseen = (bytes: Uint8Array, offset: number): number => {
    if (searched.bytes === bytes && offset < searched.until) return offset
    if (!isSimple()) return offset
    const { until, visibleFrom } = findPlainRun(bytes, offset, getMaxLines())
    searched = { bytes, until }
    if (visibleFrom > offset) core.parse(findColors(bytes, offset, visibleFrom))
    return visibleFrom
  }

  const parse = (bytes: Uint8Array, offset: number): number => {
    const from = skipUnseen(bytes, offset)
    const turn = bytes.subarray(from, from + turnBytes)
    const part = turn.subarray(0, core.parseTurn(turn))
    tail.add(part)
    return from + part.length
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
    reply: (question) => core.reading(() => reader.reply(question)),
    weigh: core.weigh,
    dropOldest: core.dropOldest,
    close: () => terminal.dispose(),
  }
}

type Tail = {
  add(parsed: Uint8Array): void
  /** Returns the bytes of an incomplete sequence or character. */
  getBytes(): Uint8Array
}

function createTail(core: ScreenCore): Tail {
  let tail: Uint8Array = emptyBytes
  let overlong = false
  return {
    add(parsed) {
      // A sequence is not included if its beginning was dropped.
      overlong &&= !core.atRest() && !parsed.includes(escapeByte)
      if (overlong) return
      const whole = tail.length === 0 ? parsed : concatBytes(tail, parsed)
      if (core.atRest()) {
        tail = whole.slice(whole.length - countUnfinished(whole))
        return
      }
      const begun = whole.subarray(Math.max(0, whole.lastIndexOf(escapeByte)))
      overlong = begun.length > maxTailBytes
      tail = overlong ? emptyBytes : begun.slice()
    },
    getBytes: () => tail,
  }
}
