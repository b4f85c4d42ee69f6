import { readEvent } from '#shared/contract/parseResponse.ts'
import { type ClientStreamMessage, ServerStreamMessage } from '#shared/contract/terminalStream.ts'
import { createStreamOutput, type Drawn, type Message } from './streamOutput.ts'
import type { TerminalScreen, TerminalSize } from './terminalScreen.ts'

/** `code` is undefined if the socket never reached the server or timed out. */
export type AttachmentEnd = { code: number | undefined; reason: string }

export type AttachmentOptions = {
  socket: WebSocket
  screen: TerminalScreen
  /** State drawn by an earlier attachment. Without newer output, the screen is left unchanged. */
  drawn?: Drawn | undefined
  onDrawn(drawn: Drawn): void
  /** Timeout for the server to attach, in milliseconds. */
  attachWithinMs: number
  onAttached(message: Message<'attached'>): void
  onResized(size: TerminalSize): void
  onTitle(title: string): void
  onExited(message: Message<'exited'>): void
  /** Called when input up to `seq` has arrived. */
  onAcknowledged(seq: number): void
  onRefused(message: Message<'refused'>): void
  /** Called with the size of received output, in bytes. */
  onOutput(bytes: number): void
  onEnd(end: AttachmentEnd): void
}

export type Attachment = { send(message: ClientStreamMessage): void; close(): void }

/** Handles one WebSocket of a terminal from opening to close. `onEnd` is called once, as the last callback. */
export function attachStream(options: AttachmentOptions): Attachment {
  const { socket, screen, drawn, onDrawn, onOutput } = options
  const listening = new AbortController()
  const { signal } = listening
  const deadline = setTimeout(
    () => end({ code: undefined, reason: 'The terminal did not respond in time.' }),
    options.attachWithinMs,
  )
  const output = createStreamOutput({ screen, drawn, onDrawn, onOutput, send, signal })

  function end(how: AttachmentEnd): void {
    if (signal.aborted) return
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

  function follow(message: ServerStreamMessage): void {
    switch (message.type) {
      case 'attached':
        clearTimeout(deadline)
        output.beginSnapshot(message)
        options.onAttached(message)
        break
      case 'marks':
        output.setMarks(message)
        break
      case 'skipped':
        output.beginSkip(message)
        break
      case 'resized':
        output.resize(message)
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
      output.draw(new Uint8Array(data))
      return
    }
    const message = readMessage(String(data))
    if (message === 'unreadable') end({ code: undefined, reason: 'The service sent an unreadable message.' })
    else if (message) follow(message)
  }

  socket.binaryType = 'arraybuffer'
  socket.addEventListener('message', receive, { signal })
  socket.addEventListener('close', ({ code, reason }) => end({ code, reason }), { signal })
  return { send, close: stop }
}

/** @returns undefined for a message type unknown to this version */
function readMessage(text: string): ServerStreamMessage | undefined | 'unreadable' {
  try {
    return readEvent(ServerStreamMessage, JSON.parse(text))
  } catch {
    return 'unreadable'
  }
}
