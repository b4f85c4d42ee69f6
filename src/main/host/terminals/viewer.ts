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

export function createViewer({
  source,
  stream,
  stallMs = streamLimits.stallMs,
  present,
  ...rest
}: ViewerOptions): Viewer {
  const windowBytes = present ? streamLimits.skip.windowBytes : streamLimits.windowBytes
  const marks: { offset: number; message: ServerStreamMessage }[] = []
  const early: ServerStreamMessage[] = []
  let next: number | undefined
  let begun = false
  let ended = false
  let unacknowledged = 0
  let stalled: NodeJS.Timeout | undefined
  let skipping: 'no' | 'drawing' | 'pausing' = 'no'
  let pause: NodeJS.Timeout | undefined

  const finish = (error?: AppError): void => {
    if (ended) return
    ended = true
    clearTimeout(stalled)
    clearTimeout(pause)
    stream.end(error)
    rest.onEnded()
    rest.onMoved()
  }

  const giveUp = (): void =>
    finish(new AppError('terminal/too-slow', `This viewer acknowledged nothing for ${stallMs} ms.`))

  const sendMarks = (): void => {
    for (let [mark] = marks; mark && mark.offset <= (next ?? -1) && !ended; [mark] = marks) {
      marks.shift()
      stream.send(mark.message)
      if (mark.message.type === 'exited') finish()
    }
  }

  /** Sends output after the snapshot; the exit of the program follows it. */
  const sendPast = (cursor: number): void => {
    for (let [mark] = marks; mark && mark.offset <= cursor && mark.message.type !== 'exited'; [mark] = marks) {
      marks.shift()
      stream.send(mark.message)
    }
  }

  const getAvailable = (): number => {
    const remaining = windowBytes - unacknowledged
    if (remaining <= 0) stalled ??= setTimeout(giveUp, stallMs)
    return Math.max(0, remaining)
  }

  /** Detaches it from the output, so that no output is retained and no program is paused for it. */
  const skip = (isOver: boolean): void => {
    if (!present || ended) return
    skipping = 'drawing'
    stalled ??= setTimeout(giveUp, stallMs)
    present(isOver).then(
      ({ cursor, message, bytes }) => {
        if (ended) return
        next = cursor
        sendPast(cursor)
        stream.send(message)
        stream.sendBytes(bytes)
        if (!isOver) return
        skipping = 'no'
        unacknowledged = 0
        sendMarks()
        pump()
      },
      (error: unknown) =>
        finish(error instanceof AppError ? error : new AppError('internal/unexpected', 'The screen failed.')),
    )
  }

  const isFar = (): boolean => source.end - (next ?? source.end) > streamLimits.skip.behindBytes
  /** So little came since the last look that the viewer can follow again, or no more will come. */
  const isOver = (): boolean => !isFar() || marks.some(({ message }) => message.type === 'exited')

  const step = (): boolean => {
    if (!begun || ended || next === undefined || skipping !== 'no') return false
    if (present && isFar()) {
      skip(isOver())
      return false
    }
    sendMarks()
    if (ended || next === source.end) return false
    const until = marks[0]?.offset ?? source.end
    const bytes = source.run(next, Math.min(getAvailable(), until - next, runBytes))
    if (bytes.length === 0) return false
    stream.sendBytes(bytes)
    unacknowledged += bytes.length
    next += bytes.length
    sendMarks()
    return !ended && next < source.end
  }

  const pump = (): void => {
    if (!begun || ended || next === undefined) return
    while (!stream.isCongested() && step()) {}
  }

  return {
    get next() {
      return skipping === 'no' ? next : undefined
    },
    await(cursor) {
      next = cursor
    },
    begin(attached, snapshot, marks) {
      if (ended) return
      stream.send(attached)
      if (marks) stream.send(marks)
      stream.sendBytes(snapshot)
      begun = true
      for (const message of early.splice(0)) stream.send(message)
      pump()
    },
    mark(message) {
      if (next !== undefined) marks.push({ offset: source.end, message })
      if (begun && skipping === 'no' && next === source.end) sendMarks()
    },
    tell(message) {
      if (begun) stream.send(message)
      else early.push(message)
    },
    pump,
    turn() {
      const more = step()
      rest.onMoved()
      return more
    },
    acknowledge(bytes) {
      unacknowledged = Math.max(0, unacknowledged - bytes)
      clearTimeout(stalled)
      stalled = undefined
      pump()
      rest.onMoved()
    },
    onDrawn() {
      if (skipping !== 'drawing' || ended) return
      clearTimeout(stalled)
      stalled = undefined
      skipping = 'pausing'
      pause = setTimeout(() => skip(isOver()), streamLimits.skip.everyMs)
    },
    end: finish,
    close() {
      if (ended) return
      ended = true
      clearTimeout(stalled)
      clearTimeout(pause)
      rest.onEnded()
      rest.onMoved()
    },
  }
}
