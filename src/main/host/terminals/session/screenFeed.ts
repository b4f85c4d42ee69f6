import type { TerminalColors } from '#shared/contract/terminalColors.ts'
import type { CarriedMark } from '#shared/terminalMarks.ts'
import type { ScreenQuery, ScreenReply } from '../emulator/screenQuery.ts'
import {
  type LossReason,
  type RemoteScreen,
  ScreenLostError,
  type ScreenPool,
  type ScreenSize,
} from '../worker/screenPool.ts'
import type { OutputLog } from './outputLog.ts'

/** Synchronizes one remote screen with a terminal's output. Redraws the screen after it was lost or unloaded. */
export type ScreenFeed = {
  readonly sent: number
  readonly parsed: number
  /** Sends new output in batches: the first immediately, later ones larger. */
  pump(): void
  resize(size: ScreenSize): void
  /** Sets the colors reported to programs, including after a redraw. */
  draws(colors: TerminalColors): void
  /**
   * Queries the screen. Calls `posted` with a cursor before anything else happens. The reply reflects exactly the
   * output before that cursor.
   */
  ask(question: ScreenQuery, posted: (cursor: number) => void): Promise<ScreenReply>
  /** Frees the screen. The next query redraws it. */
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
  /** Draws all output before `until` on a new screen. */
  redraw: (screen: Redraw, until: number) => Promise<void>
  onAnswer: (data: string) => void
  onTitle: (title: string) => void
  onBell: () => void
  onNotice: (text: string) => void
  onParsed: () => void
  /**
   * Called when the screen got stuck, with the cursor after the output sent to it. A new screen must not parse that
   * output again.
   */
  onStuck: (cursor: number) => void
}

const batchBytes = 4 * 1024 * 1024
/** During a flood, large batches let most output scroll out unparsed. */
const enoughBytes = 3 * 1024 * 1024
const floodBytes = 128 * 1024
const pauseMs = { normal: 16, flood: 50 } as const

/** Creates the feed of one terminal. With a `size`, opens the screen immediately, for output that starts now. */
export function createScreenFeed(options: ScreenFeedOptions, size?: ScreenSize): ScreenFeed {
  const { source } = options
  const state: FeedState = { screen: undefined, sent: source.end, parsed: source.end, redrawn: 0, closed: false }
  const sender = createSender(source, state)
  const opener = createScreenOpener(options, state, {
    onParsed: sender.pump,
    // The next query retries and receives the error.
    onReload: () => void loader.waitUntilLoaded().catch(() => {}),
  })
  const loader = createScreenLoader(options, state, opener)

  const post = (question: ScreenQuery, posted: (cursor: number) => void): Promise<ScreenReply> => {
    const { screen } = state
    if (!screen) throw new ScreenLostError()
    sender.send(screen, source.end)
    posted(state.sent)
    return screen.ask(question)
  }

  const ask = (question: ScreenQuery, posted: (cursor: number) => void): Promise<ScreenReply> =>
    state.screen ? post(question, posted) : loader.waitUntilLoaded().then(() => post(question, posted))

  if (size) state.screen = opener.open(size)
  return {
    get sent() {
      return state.sent
    },
    get parsed() {
      return state.parsed
    },
    pump: sender.pump,
    resize(newSize) {
      const { screen } = state
      if (!screen) {
        loader.resize(newSize)
        return
      }
      sender.send(screen, source.end)
      screen.resize(newSize)
    },
    draws: opener.draws,
    async ask(question, posted) {
      try {
        return await ask(question, posted)
      } catch (error) {
        // Another terminal is the most likely cause, so the query is retried instead of failing.
        if (state.closed || !(error instanceof ScreenLostError)) throw error
        return ask(question, posted)
      }
    },
    unload() {
      state.screen?.close()
      state.screen = undefined
      state.sent = source.end
      state.parsed = source.end
    },
    close() {
      state.closed = true
      sender.close()
      opener.close()
      state.screen?.close()
      state.screen = undefined
    },
  }
}

type FeedState = {
  screen: RemoteScreen | undefined
  /** Cursor of the first byte not yet sent to the screen. */
  sent: number
  /** Cursor after the last byte that the screen has parsed. */
  parsed: number
  /** Bytes of a redraw that the screen has not parsed yet. */
  redrawn: number
  closed: boolean
}

type Sender = Pick<ScreenFeed, 'pump' | 'close'> & { send(to: RemoteScreen, until: number): void }

function createSender(source: OutputLog, state: FeedState): Sender {
  let pause: NodeJS.Timeout | undefined

  const send = (to: RemoteScreen, until: number): void => {
    if (until === state.sent) return
    const bytes = new Uint8Array(until - state.sent)
    let filled = 0
    for (const run of source.runs(state.sent, until)) {
      bytes.set(run, filled)
      filled += run.length
    }
    state.sent = until
    to.output(bytes, false)
  }

  const pump = (): void => {
    const pending = source.end - state.sent
    if (!state.screen || pending === 0 || state.parsed < state.sent || state.redrawn > 0) return
    if (pause && pending < enoughBytes) return
    const batch = Math.min(pending, batchBytes)
    send(state.screen, state.sent + batch)
    clearTimeout(pause)
    const ms = batch >= floodBytes ? pauseMs.flood : pauseMs.normal
    pause = setTimeout(() => {
      pause = undefined
      pump()
    }, ms)
  }

  return { send, pump, close: () => clearTimeout(pause) }
}

type ScreenOpener = Pick<ScreenFeed, 'draws' | 'close'> & {
  open(size: ScreenSize): RemoteScreen
  isLost(screen: RemoteScreen): boolean
}

/** Opens screens in the pool, and triggers a redraw of lost screens. */
function createScreenOpener(
  options: ScreenFeedOptions,
  state: FeedState,
  { onParsed, onReload }: { onParsed: () => void; onReload: () => void },
): ScreenOpener {
  const { marksKey, onAnswer, onTitle, onBell, onNotice } = options
  const lostScreens = new WeakSet<RemoteScreen>()
  const losses = createLossHistory()
  let colors: TerminalColors | undefined
  let reload: NodeJS.Timeout | undefined

  const recordLoss = (why: LossReason): void => {
    if (losses.isDueToOutput(why)) options.onStuck(state.sent)
    // Reloads even without viewers, because a program that queries its terminal must receive a reply.
    reload ??= setTimeout(() => {
      reload = undefined
      onReload()
    }, losses.pauseAfter(why))
  }

  return {
    open(size) {
      const opened = options.pool.open(
        { ...size, marksKey },
        {
          onParsed(bytes) {
            const past = Math.min(state.redrawn, bytes)
            state.redrawn -= past
            state.parsed += bytes - past
            onParsed()
            options.onParsed()
          },
          onAnswer,
          onTitle,
          onBell,
          onNotice,
          onLost(why) {
            lostScreens.add(opened)
            if (state.screen === opened) state.screen = undefined
            if (!state.closed) recordLoss(why)
          },
        },
      )
      if (colors) opened.draws(colors)
      return opened
    },
    isLost: (screen) => lostScreens.has(screen),
    draws(next) {
      colors = next
      state.screen?.draws(next)
    },
    close: () => clearTimeout(reload),
  }
}

function createLossHistory() {
  let losses = 0
  let stuckAnswers = 0
  return {
    /** A single stuck query may be caused by the query. A repetition is attributed to the output. */
    isDueToOutput(why: LossReason): boolean {
      if (why === 'asked') stuckAnswers++
      return why === 'drawing' || stuckAnswers > 1
    },
    /**
     * Returns the delay before a retry, in milliseconds: none the first time, then increasing, in case the output
     * crashes the worker.
     */
    pauseAfter: (why: LossReason): number => (why === 'neighbour' ? 0 : Math.min(losses++ * 5_000, 60_000)),
  }
}

type ScreenLoader = {
  waitUntilLoaded(): Promise<void>
  /** Applies the size to a screen that is being loaded. */
  resize(size: ScreenSize): void
}

function createScreenLoader(options: ScreenFeedOptions, state: FeedState, opener: ScreenOpener): ScreenLoader {
  let loading: Promise<void> | undefined
  let sizeMeanwhile: ScreenSize | undefined

  const load = async (): Promise<void> => {
    const until = options.source.end
    state.sent = until
    state.parsed = until
    state.redrawn = 0
    sizeMeanwhile = undefined
    let fresh: RemoteScreen | undefined
    const redraw: Redraw = {
      open(size) {
        fresh = opener.open(size)
      },
      output(bytes) {
        state.redrawn += bytes.length
        fresh?.output(bytes, true)
      },
      takesMarks: (marks) => fresh?.takesMarks(marks),
      resize: (size) => fresh?.resize(size),
    }
    await options.redraw(redraw, until)
    if (state.closed) fresh?.close()
    else if (fresh && !opener.isLost(fresh)) state.screen = fresh
    if (sizeMeanwhile) state.screen?.resize(sizeMeanwhile)
    options.onParsed()
  }

  return {
    async waitUntilLoaded() {
      if (state.screen) return
      loading ??= load().finally(() => {
        loading = undefined
      })
      await loading
    },
    resize(size) {
      sizeMeanwhile = size
    },
  }
}
