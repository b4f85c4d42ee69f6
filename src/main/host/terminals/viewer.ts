import { AppError } from '#shared/appError.ts'
import { type ServerStreamMessage, streamLimits } from '#shared/contract/terminalStream.ts'
import type { OutputLog } from './outputLog.ts'

/** Destination of a viewer's messages and bytes. */
export type ViewerStream = {
  send(message: unknown): void
  sendBytes(bytes: Uint8Array): void
  /** True when bytes should wait until the stream's next turn. */
  isCongested(): boolean
  end(error?: AppError): void
}

/** A viewer of a terminal: receives raw output from a cursor, as fast as it acknowledges. */
export type Viewer = {
  /** Cursor of the next byte to send; output after it must be retained. Undefined until the snapshot is requested. */
  readonly next: number | undefined
  /** Attaches it at `cursor`; nothing is sent before `begin`. */
  await(cursor: number): void
  /** Sends the first snapshot. */
  begin(attached: ServerStreamMessage, snapshot: Uint8Array, marks?: ServerStreamMessage): void
  /** Sends a message after all output until now. */
  mark(message: ServerStreamMessage): void
  /** A message about what the viewer itself asked for, at once; the first it hears is still where it stands. */
  tell(message: ServerStreamMessage): void
  /** Sends all that may be sent. */
  pump(): void
  /** Sends one run of bytes and tells whether more may follow. */
  turn(): boolean
  acknowledge(bytes: number): void
  /** Acknowledges that it shows the screen it was sent. */
  onDrawn(): void
  /** Ends its stream. */
  end(error?: AppError): void
  /** The viewer left; nothing more is sent. */
  close(): void
}

type ViewerOptions = {
  source: OutputLog
  stream: ViewerStream
  stallMs?: number
  /** Chosen by who need not see all of a flood: draws the present screen for it, with all lines above when it is over. */
  present?: ((isOver: boolean) => Promise<PresentScreen>) | undefined
  /** Called when it advanced, so that older output can be released. */
  onMoved: () => void
  /** No more for it: after its last message, because it does not acknowledge, or because it left. */
  onEnded: () => void
}

/** A snapshot of all output before `cursor`. */
export type PresentScreen = { cursor: number; message: ServerStreamMessage; bytes: Uint8Array }

/** Bytes sent before other streams get a turn. */
const runBytes = 64 * 1024

export function createViewer(options: ViewerOptions): Viewer {
  const { source, stream, stallMs = streamLimits.stallMs, present, onMoved, onEnded } = options
  const windowBytes = present ? streamLimits.skip.windowBytes : streamLimits.windowBytes
  const state: ViewerState = { next: undefined, begun: false, ended: false, unacknowledged: 0, skipping: 'no' }
  const early: ServerStreamMessage[] = []

  /** @returns false if it had ended before */
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

/** Ends a viewer that acknowledges nothing. */
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
  /** Sends all up to the next byte. */
  sendDue(): void
  /** Sends output after the snapshot; the exit of the program follows it. */
  sendPast(cursor: number): void
}

/** Messages that are sent between output. */
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
  /** Begins if the viewer is too far behind. */
  beginIfFar(): boolean
  onDrawn(): void
  close(): void
}

type SkippingParts = { options: ViewerOptions; state: ViewerState; marks: MarkQueue; stall: StallTimer }

/** Sends the present screen in place of a flood of output. */
function createSkipping(
  { options, state, marks, stall }: SkippingParts,
  { onOver, onError }: { onOver: () => void; onError: (error: AppError) => void },
): Skipping {
  const { source, stream, present } = options
  let pause: NodeJS.Timeout | undefined

  const isFar = (): boolean => source.end - (state.next ?? source.end) > streamLimits.skip.behindBytes
  /** So little came since the last look that the viewer can follow again, or no more will come. */
  const isOver = (): boolean => !isFar() || marks.hasExit()

  /** Detaches it from the output, so that no output is retained and no program is paused for it. */
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
