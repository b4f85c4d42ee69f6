import type { TerminalColours } from '#shared/contract/terminalColours.ts'
import type { CarriedMark } from '#shared/terminalMarks.ts'
import type { OutputLog } from './outputLog.ts'
import type { ScreenQuestion, ScreenReply } from './screenMessages.ts'
import { type LossReason, type RemoteScreen, ScreenLost, type ScreenPool, type ScreenSize } from './screenPool.ts'

/** Keeps one remote screen in step with a terminal's output, and draws it again when it was lost or put away. */
export type ScreenFeed = {
  /** Cursor of the first byte not yet sent to the screen. */
  readonly sent: number
  /** Cursor after the last byte that the screen has parsed. */
  readonly parsed: number
  /** Sends new output in batches: the first at once, then large ones. */
  pump(): void
  resize(size: ScreenSize): void
  /** What programs that ask for colours are told, also by a screen that is drawn again. */
  draws(colours: TerminalColours): void
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
const pauseMs = { usual: 16, flood: 50 } as const

/** With a `size`, opens the screen at once, for output that begins now. */
export function screenFeed(options: ScreenFeedOptions, size?: ScreenSize): ScreenFeed {
  const { pool, source } = options
  let screen: RemoteScreen | undefined
  let loading: Promise<void> | undefined
  let sent = source.end
  let parsed = source.end
  let redrawn = 0
  let closed = false
  let pause: NodeJS.Timeout | undefined
  let reload: NodeJS.Timeout | undefined
  let losses = 0
  let stuckAnswers = 0
  let sizeMeanwhile: ScreenSize | undefined
  let colours: TerminalColours | undefined
  const lost = new WeakSet<RemoteScreen>()

  /** Retries at once the first time, then backs off, in case this very output kills the worker. */
  const pauseAfter = (why: LossReason): number => (why === 'neighbour' ? 0 : Math.min(losses++ * 5_000, 60_000))

  const learnFrom = (why: LossReason): void => {
    if (why === 'asked') stuckAnswers++
    // A question may be too much once. If it happens again, the output is the cause.
    if (why === 'drawing' || stuckAnswers > 1) options.onStuck(sent)
  }

  const open = (at: ScreenSize): RemoteScreen => {
    const opened = pool.open(
      { ...at, marksKey: options.marksKey },
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
          lost.add(opened)
          if (screen === opened) screen = undefined
          if (closed) return
          learnFrom(why)
          // Parse even if nobody reads: a program that queries its terminal must not wait for the parser.
          reload ??= setTimeout(() => {
            reload = undefined
            loaded().catch(() => {}) // the next question tries again, and is told
          }, pauseAfter(why))
        },
      },
    )
    if (colours) opened.draws(colours)
    return opened
  }

  const load = async (): Promise<void> => {
    const until = source.end
    sent = until
    parsed = until
    redrawn = 0
    sizeMeanwhile = undefined
    let fresh: RemoteScreen | undefined
    const redraw: Redraw = {
      open(at) {
        fresh = open(at)
      },
      output(bytes) {
        redrawn += bytes.length
        fresh?.output(bytes, true)
      },
      takesMarks: (marks) => fresh?.takesMarks(marks),
      resize: (at) => fresh?.resize(at),
    }
    await options.redraw(redraw, until)
    if (closed) fresh?.close()
    else if (fresh && !lost.has(fresh)) screen = fresh
    if (sizeMeanwhile) screen?.resize(sizeMeanwhile)
    options.onParsed()
  }

  const send = (to: RemoteScreen, until: number): void => {
    if (until === sent) return
    const bytes = new Uint8Array(until - sent)
    let filled = 0
    for (const run of source.runs(sent, until)) {
      bytes.set(run, filled)
      filled += run.length
    }
    sent = until
    to.output(bytes, false)
  }

  const pump = (): void => {
    const pending = source.end - sent
    if (!screen || pending === 0 || parsed < sent || redrawn > 0) return
    if (pause && pending < enoughBytes) return
    const batch = Math.min(pending, batchBytes)
    send(screen, sent + batch)
    clearTimeout(pause)
    const ms = batch >= floodBytes ? pauseMs.flood : pauseMs.usual
    pause = setTimeout(() => {
      pause = undefined
      pump()
    }, ms)
  }

  const loaded = async (): Promise<void> => {
    if (screen) return
    loading ??= load().finally(() => {
      loading = undefined
    })
    await loading
  }

  const post = (question: ScreenQuestion, posted: (cursor: number) => void): Promise<ScreenReply> => {
    if (!screen) throw new ScreenLost()
    send(screen, source.end)
    posted(sent)
    return screen.ask(question)
  }

  const ask = (question: ScreenQuestion, posted: (cursor: number) => void): Promise<ScreenReply> =>
    screen ? post(question, posted) : loaded().then(() => post(question, posted))

  if (size) screen = open(size)
  return {
    get sent() {
      return sent
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
      colours = next
      screen?.draws(next)
    },
    async ask(question, posted) {
      try {
        return await ask(question, posted)
      } catch (failure) {
        // Another terminal most likely caused this, so the caller is not told.
        if (closed || !(failure instanceof ScreenLost)) throw failure
        return ask(question, posted)
      }
    },
    unload() {
      screen?.close()
      screen = undefined
      sent = source.end
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
