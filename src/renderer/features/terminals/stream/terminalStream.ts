import type { TerminalColors } from '#shared/contract/terminalColors.ts'
import { streamClose } from '#shared/contract/terminalStream.ts'
import { createInputQueue, maxQueuedBytes } from './inputQueue.ts'
import { retryDelayMs } from './retryDelay.ts'
import { createSentInput } from './sentInput.ts'
import { type Attachment, type AttachmentEnd, type Drawn, streamAttachment } from './streamAttachment.ts'
import type { StreamState } from './streamState.ts'
import type { TerminalScreen, TerminalSize } from './terminalScreen.ts'

const attachWithinMs = 15_000
/** A connection that held this long was a good one: the next attempt after it comes at once. */
const steadyAfterMs = 5_000
/** Output after which a hidden terminal is detached, and redrawn when shown, in bytes. */
const hiddenOutputLimitBytes = 2 * 1024 * 1024
/**
 * Time after which any hidden terminal is detached, so that invisible output costs no parsing. Shorter absences leave
 * it attached.
 */
const defaultParkAfterMs = 5_000

/** Opens a WebSocket on 1 terminal; `scrollback` lines above the screen come with the snapshot. */
export type StreamConnector = (query: { scrollback: number }) => WebSocket

export type TerminalStreamOptions = {
  connect: StreamConnector
  screen: TerminalScreen
  scrollbackLines: number
  /** A random name for this viewer. */
  writer: string
  onState(state: StreamState): void
  onTitle(title: string | null): void
  onRefused(refusal: { error: string; code: string }): void
  /** Output came while the terminal was hidden. */
  onHiddenOutput(): void
  /** All input sent so far is with the host. */
  onInputArrived?(): void
  retryDelayMs?: (attempt: number) => number
  parkAfterMs?: number
}

export type TerminalStream = {
  /** False when it is refused, because too much waits for the connection already. */
  type(text: string): boolean
  /** The size this viewer has room for; sent when it differs from the terminal's. */
  resize(size: TerminalSize): void
  /** Sets the colors reported to programs; the latest of several viewers counts. */
  draws(colors: TerminalColors): void
  show(): void
  hide(): void
  /** Ends the wait before the next attempt. */
  retryNow(): void
  close(): void
}

/** Keeps 1 terminal on a screen through dropped connections, until it ends or is closed. */
export function createTerminalStream(options: TerminalStreamOptions): TerminalStream {
  const typed = createInputQueue()
  const sent = createSentInput(options.writer)
  const delayMs = options.retryDelayMs ?? retryDelayMs
  let attachment: Attachment | undefined
  const parkAfterMs = options.parkAfterMs ?? defaultParkAfterMs
  let retry: ReturnType<typeof setTimeout> | undefined
  let parking: ReturnType<typeof setTimeout> | undefined
  /** State of the screen. After a detach, it is drawn again only if this is outdated. */
  let drawn: Drawn | undefined
  let failedAttempts = 0
  let attachedAtMs: number | undefined
  let state: StreamState = { phase: 'connecting' }
  let visible = true
  let hiddenBytes = 0
  let flushing = false
  let refusing = false
  let visibleSize: TerminalSize | undefined
  let asked: TerminalSize | undefined
  let requestedSize: TerminalSize | undefined
  let colors: TerminalColors | undefined

  const over = () => state.phase === 'closed' || state.phase === 'ended' || state.phase === 'gone'

  function enter(next: StreamState): void {
    if (state.phase === 'closed') return
    state = next
    if (next.phase !== 'closed') options.onState(next)
  }

  function connect(): void {
    retry = undefined
    attachment = streamAttachment({
      socket: options.connect({ scrollback: options.scrollbackLines }),
      screen: options.screen,
      attachWithinMs,
      drawn,
      onDrawn(now) {
        drawn = now
      },
      onAttached(message) {
        attachedAtMs = performance.now()
        refusing = false
        visibleSize = message
        asked = undefined
        options.onTitle(message.title)
        enter({ phase: 'live' })
        if (message.state === 'running') {
          askForSize()
          tellColors()
          for (const input of sent.open) attachment?.send(input)
          flush()
        }
      },
      onResized(size) {
        visibleSize = size
        if (asked !== undefined && isSame(asked, size)) asked = undefined
      },
      onTitle: options.onTitle,
      onExited(message) {
        enter({ phase: 'ended', end: { exitCode: message.exit_code, signal: message.signal } })
      },
      onAcknowledged(seq) {
        sent.acknowledge(seq)
        if (sent.open.length === 0) options.onInputArrived?.()
      },
      onRefused(message) {
        asked = undefined
        options.onRefused(message)
      },
      onOutput: countHidden,
      onEnd: lost,
    })
  }

  function lost(end: AttachmentEnd): void {
    attachment = undefined
    drawn = undefined // only what was let go on purpose is surely whole
    if (over()) return
    if (end.code === streamClose.notFound || end.code === streamClose.refused) {
      enter({ phase: 'gone', reason: end.reason })
      return
    }
    if (attachedAtMs !== undefined && performance.now() - attachedAtMs > steadyAfterMs) failedAttempts = 0
    attachedAtMs = undefined
    retry = setTimeout(connect, delayMs(failedAttempts))
    failedAttempts += 1
    enter(reconnecting())
  }

  function reconnecting(): StreamState {
    return {
      phase: 'reconnecting',
      attempt: failedAttempts,
      holding: typed.waitingBytes > 0 || sent.open.length > 0,
      refusing,
    }
  }

  function countHidden(bytes: number): void {
    if (visible) return
    options.onHiddenOutput()
    hiddenBytes += bytes
    if (hiddenBytes <= hiddenOutputLimitBytes || state.phase !== 'live') return
    park()
  }

  function parkLater(): void {
    clearTimeout(parking)
    parking = setTimeout(() => {
      if (visible || over() || state.phase === 'parked') return
      // Earlier input is still being sent.
      if (typed.waitingBytes > 0 || sent.open.length > 0) parkLater()
      else park()
    }, parkAfterMs)
  }

  function park(): void {
    drop()
    enter({ phase: 'parked' })
  }

  function drop(): void {
    clearTimeout(retry)
    attachment?.close()
    attachment = undefined
  }

  function flush(): void {
    flushing = false
    if (state.phase !== 'live') return
    for (const data of typed.take()) attachment?.send(sent.add(data))
  }

  function askForSize(): void {
    if (!visible || state.phase !== 'live' || requestedSize === undefined) return
    if (isSame(requestedSize, asked ?? visibleSize)) return
    asked = requestedSize
    attachment?.send({ type: 'resize', ...requestedSize })
  }

  function tellColors(): void {
    if (colors && state.phase === 'live') attachment?.send({ type: 'colours', colours: colors })
  }

  connect()
  return {
    type(text) {
      if (over() || text === '') return false
      const live = state.phase === 'live'
      askForSize() // of several viewers, the active one determines the size
      refusing = !typed.add(text, live ? Number.POSITIVE_INFINITY : maxQueuedBytes)
      if (!live) enter(state.phase === 'reconnecting' ? reconnecting() : state)
      else if (!flushing) {
        flushing = true
        queueMicrotask(flush)
      }
      return !refusing
    },
    resize({ cols, rows }) {
      requestedSize = { cols, rows }
      askForSize()
    },
    draws(next) {
      colors = next
      tellColors()
    },
    show() {
      visible = true
      hiddenBytes = 0
      clearTimeout(parking)
      if (state.phase !== 'parked') return askForSize()
      enter({ phase: 'connecting' })
      connect()
    },
    hide() {
      if (visible) parkLater()
      visible = false
    },
    retryNow() {
      if (retry === undefined || state.phase !== 'reconnecting') return
      clearTimeout(retry)
      connect()
    },
    close() {
      enter({ phase: 'closed' })
      clearTimeout(parking)
      drop()
    },
  }
}

function isSame(a: TerminalSize, b: TerminalSize | undefined): boolean {
  return a.cols === b?.cols && a.rows === b?.rows
}
