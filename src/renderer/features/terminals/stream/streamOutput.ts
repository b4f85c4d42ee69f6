import { type ClientStreamMessage, type ServerStreamMessage, streamLimits } from '#shared/contract/terminalStream.ts'
import type { SnapshotMarks, TerminalScreen, TerminalSize } from './terminalScreen.ts'

export type Message<T extends ServerStreamMessage['type']> = Extract<ServerStreamMessage, { type: T }>

/** State of a screen: all output before `cursor`, at this size. */
export type Drawn = TerminalSize & { cursor: number }

export type StreamOutput = {
  /** Draws the bytes of an announced snapshot, otherwise output. */
  draw(bytes: Uint8Array): void
  /** Announces the next snapshot. */
  beginSnapshot(message: Message<'attached'>): void
  /** Announces a snapshot that replaces skipped output. */
  beginSkip(message: Message<'skipped'>): void
  setMarks(marks: SnapshotMarks): void
  resize(size: TerminalSize): void
}

type StreamOutputOptions = {
  screen: TerminalScreen
  /** State drawn by an earlier attachment. Without newer output, the screen is left unchanged. */
  drawn?: Drawn | undefined
  onDrawn(drawn: Drawn): void
  /** Called with the size of received output, in bytes. */
  onOutput(bytes: number): void
  send(message: ClientStreamMessage): void
  /** Aborted when the attachment ends. */
  signal: AbortSignal
}

export function createStreamOutput({ screen, send, signal, ...options }: StreamOutputOptions): StreamOutput {
  let snapshotOf: Drawn | undefined
  let marks: SnapshotMarks | undefined
  let isSkipping = false
  let { drawn } = options
  let unacknowledgedBytes = 0

  function report(next: Drawn): void {
    drawn = next
    options.onDrawn(next)
  }

  /** Counts only parsed output, so that a backlog in the terminal throttles the server. */
  function acknowledge(bytes: number): void {
    unacknowledgedBytes += bytes
    if (unacknowledgedBytes < streamLimits.skip.ackEveryBytes || signal.aborted) return
    send({ type: 'ack', bytes: unacknowledgedBytes })
    unacknowledgedBytes = 0
  }

  return {
    draw(bytes) {
      if (snapshotOf !== undefined) {
        if (isSkipping) screen.redraw(snapshotOf, bytes, marks, () => send({ type: 'drawn' }))
        else if (!isSame(snapshotOf, drawn)) screen.redraw(snapshotOf, bytes, marks)
        isSkipping = false
        report(snapshotOf)
        snapshotOf = undefined
        return
      }
      options.onOutput(bytes.length)
      if (drawn) report({ ...drawn, cursor: drawn.cursor + bytes.length })
      screen.write(bytes, () => acknowledge(bytes.length))
    },
    beginSnapshot({ cols, rows, cursor }) {
      snapshotOf = { cols, rows, cursor }
    },
    beginSkip(message) {
      snapshotOf = { cols: message.cols, rows: message.rows, cursor: message.cursor }
      marks = { key: marks?.key ?? null, at: message.at, marks: message.marks }
      isSkipping = true
      unacknowledgedBytes = 0
    },
    setMarks(next) {
      marks = next
    },
    resize(size) {
      screen.resize(size)
      if (drawn) report({ ...drawn, cols: size.cols, rows: size.rows })
    },
  }
}

function isSame(a: Drawn, b: Drawn | undefined): boolean {
  return a.cursor === b?.cursor && a.cols === b.cols && a.rows === b.rows
}
