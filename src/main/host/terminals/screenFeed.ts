import type { TerminalColors } from '#shared/contract/terminalColors.ts'
import type { CarriedMark } from '#shared/terminalMarks.ts'
import type { OutputLog } from './outputLog.ts'
import type { ScreenQuestion, ScreenReply } from './screenMessages.ts'
import { type LossReason, type RemoteScreen, ScreenLostError, type ScreenPool, type ScreenSize } from './screenPool.ts'

/** Keeps one remote screen in step with a terminal's output, and draws it again when it was lost or put away. */
export type ScreenFeed = {
  /** Cursor of the first byte not yet sent to the screen. */
  readonly sent: number
  /** Cursor after the last byte that the screen has parsed. */
  readonly parsed: number
  /** Sends new output in batches: the first at once, then large ones. */
  pump(): void
  resize(size: ScreenSize): void
  /** Sets the colors reported to programs, also for a redrawn screen. */
  draws(colors: TerminalColors): void
  /** The reply holds exactly the output before the cursor that `posted` is given, before anything else happens. */
  ask(question: ScreenQuestion, posted: (cursor: number) => void): Promise<ScreenReply>
  /** Frees the screen; the next question draws it again. */
  unload(): void
  close(): void
}

export type Redraw = {
  open(size: ScreenSize): void
  output(bytes: Uint8Array<ArrayBuffer>): void
  takesMarks(marks: readonly CarriedMark[]): void
  resize(size: ScreenSize): void
}

type ScreenFeedOptions = {
  pool: ScreenPool
  source: OutputLog
  marksKey: string | undefined
  /** Draws everything before `until` on a new screen. */
  redraw: (screen: Redraw, until: number) => Promise<void>
  onAnswer: (data: string) => void
  onTitle: (title: string) => void
  onBell: () => void
  onNotice: (text: string) => void
  onParsed: () => void
  /** The screen got stuck before `cursor`. A new screen must not parse that output again. */
  onStuck: (cursor: number) => void
}

const batchBytes = 4 * 1024 * 1024
/** In a flood, large runs let most output scroll out unparsed. */
const enoughBytes = 3 * 1024 * 1024
const floodBytes = 128 * 1024
const pauseMs = { normal: 16, flood: 50 } as const

/** With a `size`, opens the screen at once, for output that begins now. */
export function createScreenFeed(options: ScreenFeedOptions, size?: ScreenSize): ScreenFeed {
  const { pool, source } = options
  let screen: RemoteScreen | undefined
  let loading: Promise<void> | undefined
  let sentCursor = source.end
  let parsed = source.end
  let redrawn = 0
  let closed = false
  let pause: NodeJS.Timeout | undefined
  let reload: NodeJS.Timeout | undefined
  let losses = 0
  let stuckAnswers = 0
  let sizeMeanwhile: ScreenSize | undefined
  let colors: TerminalColors | undefined
  const lostScreens = new WeakSet<RemoteScreen>()

  /** Retries at once the first time, then backs off, in case this very output kills the worker. */
  const pauseAfter = (why: LossReason): number => (why === 'neighbour' ? 0 : Math.min(losses++ * 5_000, 60_000))

  const learnFrom = (why: LossReason): void => {
    if (why === 'asked') stuckAnswers++
    // A question may be too much once. If it happens again, the output is the cause.
    if (why === 'drawing' || stuckAnswers > 1) options.onStuck(sentCursor)
  }

  const open = (size: ScreenSize): RemoteScreen => {
    const opened = pool.open(
      { ...size, marksKey: options.marksKey },
      {
        onParsed(bytes) {
          const past = Math.min(redrawn, bytes)
          redrawn -= past
          parsed += bytes - past
          pump()
          options.onParsed()
        },
        onAnswer: options.onAnswer,
        onTitle: options.onTitle,
        onBell: options.onBell,
        onNotice: options.onNotice,
        onLost(why) {
          lostScreens.add(opened)
          if (screen === opened) screen = undefined
          if (closed) return
          learnFrom(why)
          // Parses even without viewers: a program that queries its terminal must not wait for the parser.
          reload ??= setTimeout(() => {
            reload = undefined
            waitUntilLoaded().catch(() => {}) // the next query retries and gets the error
          }, pauseAfter(why))
        },
      },
    )
    if (colors) opened.draws(colors)
    return opened
  }

  const load = async (): Promise<void> => {
    const until = source.end
    sentCursor = until
    parsed = until
    redrawn = 0
    sizeMeanwhile = undefined
    let fresh: RemoteScreen | undefined
    const redraw: Redraw = {
      open(size) {
        fresh = open(size)
      },
      output(bytes) {
        redrawn += bytes.length
        fresh?.output(bytes, true)
      },
      takesMarks: (marks) => fresh?.takesMarks(marks),
      resize: (size) => fresh?.resize(size),
    }
    await options.redraw(redraw, until)
    if (closed) fresh?.close()
    else if (fresh && !lostScreens.has(fresh)) screen = fresh
    if (sizeMeanwhile) screen?.resize(sizeMeanwhile)
    options.onParsed()
  }

  const send = (to: RemoteScreen, until: number): void => {
    if (until === sentCursor) return
    const bytes = new Uint8Array(until - sentCursor)
    let filled = 0
    for (const run of source.runs(sentCursor, until)) {
      bytes.set(run, filled)
      filled += run.length
    }
    sentCursor = until
    to.output(bytes, false)
  }

  const pump = (): void => {
    const pending = source.end - sentCursor
    if (!screen || pending === 0 || parsed < sentCursor || redrawn > 0) return
    if (pause && pending < enoughBytes) return
    const batch = Math.min(pending, batchBytes)
    send(screen, sentCursor + batch)
    clearTimeout(pause)
    const ms = batch >= floodBytes ? pauseMs.flood : pauseMs.normal
    pause = setTimeout(() => {
      pause = undefined
      pump()
    }, ms)
  }

  const waitUntilLoaded = async (): Promise<void> => {
    if (screen) return
    loading ??= load().finally(() => {
      loading = undefined
    })
    await loading
  }

  const post = (question: ScreenQuestion, posted: (cursor: number) => void): Promise<ScreenReply> => {
    if (!screen) throw new ScreenLostError()
    send(screen, source.end)
    posted(sentCursor)
    return screen.ask(question)
  }

  const ask = (question: ScreenQuestion, posted: (cursor: number) => void): Promise<ScreenReply> =>
    screen ? post(question, posted) : waitUntilLoaded().then(() => post(question, posted))

  if (size) screen = open(size)
  return {
    get sent() {
      return sentCursor
    },
    get parsed() {
      return parsed
    },
    pump,
    resize(newSize) {
      if (!screen) {
        sizeMeanwhile = newSize
        return
      }
      send(screen, source.end)
      screen.resize(newSize)
    },
    draws(next) {
      colors = next
      screen?.draws(next)
    },
    async ask(question, posted) {
      try {
        return await ask(question, posted)
      } catch (error) {
        // Another terminal most likely caused this, so the caller gets no error.
        if (closed || !(error instanceof ScreenLostError)) throw error
        return ask(question, posted)
      }
    },
    unload() {
      screen?.close()
      screen = undefined
      sentCursor = source.end
      parsed = source.end
    },
    close() {
      closed = true
      clearTimeout(pause)
      clearTimeout(reload)
      screen?.close()
      screen = undefined
    },
  }
}
