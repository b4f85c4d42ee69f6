import { readEvent } from '#shared/contract/readAnswer.ts'
import { type ClientStreamMessage, ServerStreamMessage, streamLimits } from '#shared/contract/terminalStream.ts'
import type { SnapshotMarks, TerminalScreen, TerminalSize } from './terminalScreen.ts'

/** `code` is undefined when the socket never reached the server or stayed silent. */
export type AttachmentEnd = { code: number | undefined; reason: string }

type Message<T extends ServerStreamMessage['type']> = Extract<ServerStreamMessage, { type: T }>

/** State of a screen: all output before `cursor`, at this size. */
export type Drawn = TerminalSize & { cursor: number }

export type AttachmentOptions = {
  socket: WebSocket
  screen: TerminalScreen
  /** State that an earlier attachment has drawn: without newer output, the screen is left unchanged. */
  drawn?: Drawn | undefined
  onDrawn(drawn: Drawn): void
  /** The server has this long to attach. */
  attachWithinMs: number
  onAttached(message: Message<'attached'>): void
  onResized(size: TerminalSize): void
  onTitle(title: string): void
  onExited(message: Message<'exited'>): void
  /** Input up to `seq` has arrived. */
  onAcknowledged(seq: number): void
  onRefused(message: Message<'refused'>): void
  /** Raw output that came, in bytes. */
  onOutput(bytes: number): void
  onEnd(end: AttachmentEnd): void
}

export type Attachment = { send(message: ClientStreamMessage): void; close(): void }

/** One WebSocket of a terminal from its opening to its end; `onEnd` is called once, and nothing after it. */
export function streamAttachment(options: AttachmentOptions): Attachment {
  const { socket, screen } = options
  const listening = new AbortController()
  const deadline = setTimeout(() => end({ code: undefined, reason: 'No answer in time.' }), options.attachWithinMs)
  let snapshotOf: Drawn | undefined
  let marks: SnapshotMarks | undefined
  let isSkipping = false
  let drawn = options.drawn
  let unacknowledgedBytes = 0

  function end(how: AttachmentEnd): void {
    if (listening.signal.aborted) return
    stop()
    options.onEnd(how)
  }

  function stop(): void {
    clearTimeout(deadline)
    listening.abort()
    socket.close()
  }

  function send(message: ClientStreamMessage): void {
    if (socket.readyState === socket.OPEN) socket.send(JSON.stringify(message))
  }

  function draw(bytes: Uint8Array): void {
    if (snapshotOf !== undefined) {
      if (isSkipping) screen.redraw(snapshotOf, bytes, marks, () => send({ type: 'drawn' }))
      else if (!isSame(snapshotOf, drawn)) screen.redraw(snapshotOf, bytes, marks)
      isSkipping = false
      tell(snapshotOf)
      snapshotOf = undefined
      return
    }
    options.onOutput(bytes.length)
    if (drawn) tell({ ...drawn, cursor: drawn.cursor + bytes.length })
    screen.write(bytes, () => acknowledge(bytes.length))
  }

  function tell(next: Drawn): void {
    drawn = next
    options.onDrawn(next)
  }

  /** Counts parsed output only: what waits in the terminal holds the server back. */
  function acknowledge(bytes: number): void {
    unacknowledgedBytes += bytes
    if (unacknowledgedBytes < streamLimits.skip.ackEveryBytes || listening.signal.aborted) return
    send({ type: 'ack', bytes: unacknowledgedBytes })
    unacknowledgedBytes = 0
  }

  function follow(message: ServerStreamMessage): void {
    switch (message.type) {
      case 'attached':
        clearTimeout(deadline)
        snapshotOf = { cols: message.cols, rows: message.rows, cursor: message.cursor }
        options.onAttached(message)
        break
      case 'marks':
        marks = message
        break
      case 'skipped':
        snapshotOf = { cols: message.cols, rows: message.rows, cursor: message.cursor }
        marks = { key: marks?.key ?? null, at: message.at, marks: message.marks }
        isSkipping = true
        unacknowledgedBytes = 0
        break
      case 'resized':
        screen.resize(message)
        if (drawn) tell({ ...drawn, cols: message.cols, rows: message.rows })
        options.onResized(message)
        break
      case 'title':
        options.onTitle(message.title)
        break
      case 'exited':
        options.onExited(message)
        break
      case 'taken':
        options.onAcknowledged(message.seq)
        break
      case 'refused':
        options.onRefused(message)
    }
  }

  function receive({ data }: MessageEvent): void {
    if (data instanceof ArrayBuffer) {
      draw(new Uint8Array(data))
      return
    }
    const message = readMessage(String(data))
    if (message === 'unreadable') end({ code: undefined, reason: 'The service sent a message that is not understood.' })
    else if (message) follow(message)
  }

  const { signal } = listening
  socket.binaryType = 'arraybuffer'
  socket.addEventListener('message', receive, { signal })
  socket.addEventListener('close', ({ code, reason }) => end({ code, reason }), { signal })
  return { send, close: stop }
}

function isSame(a: Drawn, b: Drawn | undefined): boolean {
  return a.cursor === b?.cursor && a.cols === b.cols && a.rows === b.rows
}

/** Returns undefined for a message that this version does not know. */
function readMessage(text: string): ServerStreamMessage | undefined | 'unreadable' {
  try {
    return readEvent(ServerStreamMessage, JSON.parse(text))
  } catch {
    return 'unreadable'
  }
}
