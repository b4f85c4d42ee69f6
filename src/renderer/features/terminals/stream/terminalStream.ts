import type { TerminalColors } from '#shared/contract/terminalColors.ts'
import { type ClientStreamMessage, streamClose } from '#shared/contract/terminalStream.ts'
import { type Attachment, type AttachmentEnd, attachStream } from './attachStream.ts'
import { maxQueuedBytes } from './inputQueue.ts'
import { createParking, type Parking } from './parking.ts'
import { createSizeRequests, type SizeRequests } from './sizeRequests.ts'
import { createStreamInput, type StreamInput } from './streamInput.ts'
import type { Drawn, Message } from './streamOutput.ts'
import { isFinalPhase, type StreamState } from './streamState.ts'
import type { TerminalScreen, TerminalSize } from './terminalScreen.ts'

const retryDelaysMs = [100, 250, 500, 1_000, 2_000] as const
const maxJitteredDelayMs = 3_000

const attachWithinMs = 15_000
/**
 * Duration after which a connection counts as stable. The first reconnection attempt after it is not delayed by earlier
 * errors.
 */
const stableAfterMs = 5_000

/** Opens a WebSocket to one terminal. The snapshot includes `scrollback` lines above the screen. */
export type StreamConnector = (query: { scrollback: number }) => WebSocket

export type TerminalStreamOptions = {
  connect: StreamConnector
  screen: TerminalScreen
  scrollbackLines: number
  /** Random name of this viewer. */
  writer: string
  onState(state: StreamState): void
  onTitle(title: string | null): void
  onRefused(refusal: { error: string; code: string }): void
  /** Called for output while the terminal is hidden. */
  onHiddenOutput(): void
  /** Called when the host has received all input sent so far. */
  onInputArrived?(): void
  retryDelayMs?: (attempt: number) => number
  parkAfterMs?: number
}

export type TerminalStream = {
  /** @returns false if the input was rejected because the buffer for the disconnected state is full */
  type(text: string): boolean
  /** Sets the size that fits this viewer. Sent if it differs from the terminal's size. */
  resize(size: TerminalSize): void
  /** Sets the colors reported to programs. With several viewers, the latest call wins. */
  draws(colors: TerminalColors): void
  show(): void
  hide(): void
  /** Reconnects immediately instead of waiting for the next attempt. */
  retryNow(): void
  close(): void
}

type Stream = {
  readonly options: TerminalStreamOptions
  readonly input: StreamInput
  readonly sizes: SizeRequests
  readonly parking: Parking
  state: StreamState
  attachment: Attachment | undefined
  /** State of the screen. After a detach, the screen is redrawn only if this state is outdated. */
  drawn: Drawn | undefined
  colors: TerminalColors | undefined
  retry: ReturnType<typeof setTimeout> | undefined
  failedAttempts: number
  attachedAtMs: number | undefined
}

/** Synchronizes one terminal with a screen across dropped connections, until it ends or is closed. */
export function createTerminalStream(options: TerminalStreamOptions): TerminalStream {
  const stream = createStream(options)
  const { input, sizes, parking } = stream
  connect(stream)
  return {
    type(text) {
      if (isFinalPhase(stream.state.phase) || text === '') return false
      const isLive = stream.state.phase === 'live'
      requestSize(stream) // with several viewers, the active one determines the size
      const isAdded = input.add(text, isLive ? Number.POSITIVE_INFINITY : maxQueuedBytes)
      if (isLive) input.flushLater()
      else enter(stream, stream.state.phase === 'reconnecting' ? describeReconnection(stream) : stream.state)
      return isAdded
    },
    resize(size) {
      sizes.set(size)
      requestSize(stream)
    },
    draws(colors) {
      stream.colors = colors
      sendColors(stream)
    },
    show() {
      parking.show()
      if (stream.state.phase !== 'parked') return requestSize(stream)
      enter(stream, { phase: 'connecting' })
      connect(stream)
    },
    hide: () => parking.hide(),
    retryNow() {
      if (stream.retry === undefined || stream.state.phase !== 'reconnecting') return
      clearTimeout(stream.retry)
      connect(stream)
    },
    close() {
      enter(stream, { phase: 'closed' })
      parking.cancel()
      detach(stream)
    },
  }
}

function createStream(options: TerminalStreamOptions): Stream {
  const { writer, parkAfterMs, onHiddenOutput } = options
  const send = (message: ClientStreamMessage) => stream.attachment?.send(message)
  const input = createStreamInput({ writer, isLive: () => stream.state.phase === 'live', send })
  const stream: Stream = {
    options,
    input,
    sizes: createSizeRequests((size) => send({ type: 'resize', ...size })),
    parking: createParking({
      parkAfterMs,
      getPhase: () => stream.state.phase,
      hasPendingInput: () => input.isPending,
      onHiddenOutput,
      park() {
        detach(stream)
        enter(stream, { phase: 'parked' })
      },
    }),
    state: { phase: 'connecting' },
    attachment: undefined,
    drawn: undefined,
    colors: undefined,
    retry: undefined,
    failedAttempts: 0,
    attachedAtMs: undefined,
  }
  return stream
}

function enter(stream: Stream, next: StreamState): void {
  if (stream.state.phase === 'closed') return
  stream.state = next
  if (next.phase !== 'closed') stream.options.onState(next)
}

function connect(stream: Stream): void {
  const { options, input, sizes, parking } = stream
  stream.retry = undefined
  stream.attachment = attachStream({
    socket: options.connect({ scrollback: options.scrollbackLines }),
    screen: options.screen,
    attachWithinMs,
    drawn: stream.drawn,
    onDrawn(drawn) {
      stream.drawn = drawn
    },
    onAttached: (message) => goLive(stream, message),
    onResized: sizes.confirm,
    onTitle: options.onTitle,
    onExited(message) {
      enter(stream, { phase: 'ended', end: { exitCode: message.exit_code, signal: message.signal } })
    },
    onAcknowledged(seq) {
      if (input.acknowledge(seq)) options.onInputArrived?.()
    },
    onRefused(message) {
      sizes.cancel()
      options.onRefused(message)
    },
    onOutput: parking.countOutput,
    onEnd: (end) => handleEnd(stream, end),
  })
}

function goLive(stream: Stream, message: Message<'attached'>): void {
  const { options, input, sizes } = stream
  stream.attachedAtMs = performance.now()
  input.accept()
  sizes.begin(message)
  options.onTitle(message.title)
  enter(stream, { phase: 'live' })
  if (message.state !== 'running') return
  requestSize(stream)
  sendColors(stream)
  input.resend()
}

function handleEnd(stream: Stream, { code, reason }: AttachmentEnd): void {
  const { options, attachedAtMs } = stream
  stream.attachment = undefined
  stream.drawn = undefined // after an unexpected disconnect, the screen may be incomplete
  if (isFinalPhase(stream.state.phase)) return
  if (code === streamClose.notFound || code === streamClose.refused) {
    enter(stream, { phase: 'gone', reason })
    return
  }
  if (attachedAtMs !== undefined && performance.now() - attachedAtMs > stableAfterMs) stream.failedAttempts = 0
  stream.attachedAtMs = undefined
  const delayMs = options.retryDelayMs ?? retryDelayMs
  stream.retry = setTimeout(() => connect(stream), delayMs(stream.failedAttempts))
  stream.failedAttempts += 1
  enter(stream, describeReconnection(stream))
}

function describeReconnection({ failedAttempts, input }: Stream): StreamState {
  return { phase: 'reconnecting', attempt: failedAttempts, holding: input.isPending, refusing: input.isRefusing }
}

function detach(stream: Stream): void {
  clearTimeout(stream.retry)
  stream.attachment?.close()
  stream.attachment = undefined
}

function requestSize({ parking, sizes, state }: Stream): void {
  if (parking.isVisible && state.phase === 'live') sizes.send()
}

function sendColors({ colors, state, attachment }: Stream): void {
  if (colors && state.phase === 'live') attachment?.send({ type: 'colours', colours: colors })
}

/** @param attempt number of consecutive failed attempts, from 0 */
function retryDelayMs(attempt: number): number {
  return retryDelaysMs[attempt] ?? maxJitteredDelayMs
}
