import { AppError } from '#shared/appError.ts'
import { type ServerStreamMessage, streamLimits } from '#shared/contract/terminalStream.ts'
import type { OutputLog } from './outputLog.ts'

export type ViewerStream = {
  send(message: unknown): void
  sendBytes(bytes: Uint8Array): void
  /** Whether bytes should wait until the stream's next turn. */
  isCongested(): boolean
  end(error?: AppError): void
}

/** Viewer of a terminal. Receives raw output from a cursor, at the speed of its acknowledgments. */
export type Viewer = {
  /** Cursor of the next byte to send. Output after it must be retained. Undefined until the snapshot is requested. */
  readonly next: number | undefined
  /** Attaches the viewer at `cursor`. Nothing is sent before `begin`. */
  await(cursor: number): void
  /** Sends the first snapshot. */
  begin(attached: ServerStreamMessage, snapshot: Uint8Array, marks?: ServerStreamMessage): void
  /** Sends a message after all current output. */
  mark(message: ServerStreamMessage): void
  /** Sends a reply to a request of the viewer immediately, but never before the `attached` message. */
  tell(message: ServerStreamMessage): void
  /** Sends all output that flow control permits. */
  pump(): void
  /** Sends one run of bytes. @returns whether more may follow */
  turn(): boolean
  acknowledge(bytes: number): void
  /** Called when the viewer acknowledges that it displays the last screen. */
  onDrawn(): void
  end(error?: AppError): void
  /** Called when the viewer has disconnected. Nothing more is sent. */
  close(): void
}

type ViewerOptions = {
  source: OutputLog
  stream: ViewerStream
  stallMs?: number
  /**
   * Draws the current screen, with all lines above it when the flood is over. Set for viewers that may skip parts of a
   * flood.
   */
  present?: ((isOver: boolean) => Promise<ScreenSnapshot>) | undefined
  /** Called when the viewer has advanced, so that older output can be released. */
  onMoved: () => void
  /** Called when the viewer has ended: after its last message, on a stall, or after a disconnect. */
  onEnded: () => void
}

/** Snapshot of all output before `cursor`. */
export type ScreenSnapshot = { cursor: number; message: ServerStreamMessage; bytes: Uint8Array }

/** Bytes sent before other streams get a turn. */
const runBytes = 64 * 1024

export function createViewer(options: ViewerOptions): Viewer {
  const { source, stream, stallMs = streamLimits.stallMs, present, onMoved, onEnded } = options
  const windowBytes = present ? streamLimits.skip.windowBytes : streamLimits.windowBytes
  const state: ViewerState = { next: undefined, begun: false, ended: false, unacknowledged: 0, skipping: 'no' }
  const early: ServerStreamMessage[] = []

  /** @returns false if the viewer had already ended */
  const stop = (): boolean => {
    if (state.ended) return false
    state.ended = true
    stall.clear()
    skip.close()
    return true
  }
  const finish = (error?: AppError): void => {
    if (!stop()) return
    stream.end(error)
    onEnded()
    onMoved()
  }
  const stall = createStallTimer(stallMs, finish)
  const marks = createMarkQueue(stream, state, () => finish())
  const skip = createSkipping({ options, state, marks, stall }, { onOver: () => pump(), onError: finish })

  const getAvailable = (): number => {
    const remaining = windowBytes - state.unacknowledged
    if (remaining <= 0) stall.start()
    return Math.max(0, remaining)
  }

  const step = (): boolean => {
    if (!state.begun || state.ended || state.next === undefined || state.skipping !== 'no') return false
    if (skip.beginIfFar()) return false
    marks.sendDue()
    if (state.ended || state.next === source.end) return false
    const until = marks.nextOffset() ?? source.end
    const bytes = source.run(state.next, Math.min(getAvailable(), until - state.next, runBytes))
    if (bytes.length === 0) return false
    stream.sendBytes(bytes)
    state.unacknowledged += bytes.length
    state.next += bytes.length
    marks.sendDue()
    return !state.ended && state.next < source.end
  }

  const pump = (): void => {
    if (!state.begun || state.ended || state.next === undefined) return
    while (!stream.isCongested() && step()) {}
  }

  return {
    get next() {
      return state.skipping === 'no' ? state.next : undefined
    },
    await(cursor) {
      state.next = cursor
    },
    begin(attached, snapshot, snapshotMarks) {
      if (state.ended) return
      stream.send(attached)
      if (snapshotMarks) stream.send(snapshotMarks)
      stream.sendBytes(snapshot)
      state.begun = true
      for (const message of early.splice(0)) stream.send(message)
      pump()
    },
    mark(message) {
      if (state.next !== undefined) marks.push({ offset: source.end, message })
      if (state.begun && state.skipping === 'no' && state.next === source.end) marks.sendDue()
    },
    tell(message) {
      if (state.begun) stream.send(message)
      else early.push(message)
    },
    pump,
    turn() {
      const more = step()
      onMoved()
      return more
    },
    acknowledge(bytes) {
      state.unacknowledged = Math.max(0, state.unacknowledged - bytes)
      stall.clear()
      pump()
      onMoved()
    },
    onDrawn: skip.onDrawn,
    end: finish,
    close() {
      if (!stop()) return
      onEnded()
      onMoved()
    },
  }
}

type ViewerState = {
  /** Cursor of the next byte to send. */
  next: number | undefined
  begun: boolean
  ended: boolean
  /** Bytes sent and not acknowledged. */
  unacknowledged: number
  skipping: 'no' | 'drawing' | 'pausing'
}

type StallTimer = { start(): void; clear(): void }

/** Ends a viewer that does not acknowledge in time. */
function createStallTimer(ms: number, onStalled: (error: AppError) => void): StallTimer {
  let timer: NodeJS.Timeout | undefined
  return {
    start() {
      timer ??= setTimeout(
        () => onStalled(new AppError('terminal/too-slow', `This viewer acknowledged nothing for ${ms} ms.`)),
        ms,
      )
    },
    clear() {
      clearTimeout(timer)
      timer = undefined
    },
  }
}

type Mark = { offset: number; message: ServerStreamMessage }

type MarkQueue = {
  push(mark: Mark): void
  nextOffset(): number | undefined
  hasExit(): boolean
  /** Sends all messages that precede the next byte. */
  sendDue(): void
  /** Sends messages up to `cursor`, before a snapshot. The program's exit is sent after the snapshot. */
  sendPast(cursor: number): void
}

/** Queue of messages that are sent between output. */
function createMarkQueue(stream: ViewerStream, state: ViewerState, onExit: () => void): MarkQueue {
  const marks: Mark[] = []
  return {
    push: (mark) => void marks.push(mark),
    nextOffset: () => marks[0]?.offset,
    hasExit: () => marks.some(({ message }) => message.type === 'exited'),
    sendDue() {
      for (let [mark] = marks; mark && mark.offset <= (state.next ?? -1) && !state.ended; [mark] = marks) {
        marks.shift()
        stream.send(mark.message)
        if (mark.message.type === 'exited') onExit()
      }
    },
    sendPast(cursor) {
      for (let [mark] = marks; mark && mark.offset <= cursor && mark.message.type !== 'exited'; [mark] = marks) {
        marks.shift()
        stream.send(mark.message)
      }
    },
  }
}

type Skipping = {
  /** Begins skipping if the viewer is too far behind. */
  beginIfFar(): boolean
  onDrawn(): void
  close(): void
}

type SkippingParts = { options: ViewerOptions; state: ViewerState; marks: MarkQueue; stall: StallTimer }

/** Sends the current screen instead of a flood of output. */
function createSkipping(
  { options, state, marks, stall }: SkippingParts,
  { onOver, onError }: { onOver: () => void; onError: (error: AppError) => void },
): Skipping {
  const { source, stream, present } = options
  let pause: NodeJS.Timeout | undefined

  const isFar = (): boolean => source.end - (state.next ?? source.end) > streamLimits.skip.behindBytes
  /**
   * Whether the viewer can follow again because little output arrived since the last check, or because the program has
   * exited.
   */
  const isOver = (): boolean => !isFar() || marks.hasExit()

  /** Detaches the viewer from the output, so that no output is retained and the program is not paused for it. */
  const skip = (isLast: boolean): void => {
    if (!present || state.ended) return
    state.skipping = 'drawing'
    stall.start()
    present(isLast).then(
      ({ cursor, message, bytes }) => {
        if (state.ended) return
        state.next = cursor
        marks.sendPast(cursor)
        stream.send(message)
        stream.sendBytes(bytes)
        if (!isLast) return
        state.skipping = 'no'
        state.unacknowledged = 0
        marks.sendDue()
        onOver()
      },
      (error: unknown) =>
        onError(error instanceof AppError ? error : new AppError('internal/unexpected', 'The screen failed.')),
    )
  }

  return {
    beginIfFar() {
      if (!present || !isFar()) return false
      skip(isOver())
      return true
    },
    onDrawn() {
      if (state.skipping !== 'drawing' || state.ended) return
      stall.clear()
      state.skipping = 'pausing'
      pause = setTimeout(() => skip(isOver()), streamLimits.skip.everyMs)
    },
    close: () => clearTimeout(pause),
  }
}
