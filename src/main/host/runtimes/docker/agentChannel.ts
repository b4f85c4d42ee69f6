import {
  createStatusReader,
  encodeFields,
  type Operation,
  type OperationRequest,
  type OperationResult,
} from '../inside/execProtocol.ts'
import { agentMessageKinds, agentWindow, hostMessageKinds } from './agentMessages.ts'

/** `mode`: `exec`, `terminal COLS ROWS`, `connect PORT`, or a file operation. */
export type AgentRequest = OperationRequest

/** One command, terminal, connection or file operation served by the agent, with its PID inside once it has started. */
export type AgentChannel = Operation<number> & {
  killSession(): void
  hangUp(): void
  resize(cols: number, rows: number): void
  /** Sends terminal input. Calls `done` once the message is sent or dropped. */
  type(bytes: Uint8Array, done: () => void): void
  /** Queues input. Calls `done` once it is sent or dropped. */
  send(bytes: Uint8Array, done: () => void): void
  /** Ends the input. */
  finish(): void
  /** Stops crediting the agent, so that it stops reading. Received data is buffered. */
  pause(): void
  resume(): void
  /** Closes the channel immediately. */
  drop(): void
  bury(result: OperationResult): void
}

/** Channel that receives messages of the agent. @throws Error on an invalid message */
export type ReceivingChannel = AgentChannel & { hear(kind: number, content: Buffer): void }

type ChannelOptions = {
  request: AgentRequest
  say: (kind: number, content?: Uint8Array | string) => void
  onClosed: () => void
}

const chunkBytes = 32_768
/** Credits are sent in fractions of the window instead of per message. */
const creditStep = agentWindow / 4

export function createAgentChannel({ request, say, onClosed }: ChannelOptions): ReceivingChannel {
  const started = Promise.withResolvers<number | undefined>()
  const ended = Promise.withResolvers<OperationResult>()
  let over = false
  let closeResult: OperationResult | undefined
  const status = createStatusReader()
  const isOver = (): boolean => over
  const sender = createSender(say, isOver)
  const receiver = createReceiver(request, { say, isOver })

  const settle = (): void => {
    if (!over || receiver.isHolding()) return
    ended.resolve(status.result() ?? closeResult ?? { kind: 'lost', detail: '' })
  }
  const close = (last?: OperationResult): void => {
    if (over) return
    over = true
    closeResult = last
    sender.drop()
    onClosed()
    started.resolve(undefined)
    settle()
  }
  const receiveStatus = (line: string): void => {
    const { startedPid } = status.receive(line)
    if (startedPid !== undefined) started.resolve(startedPid)
  }

  say(hostMessageKinds.open, request.mode)
  if (!request.mode.startsWith('connect')) {
    const fields = Buffer.from(encodeFields(request.fields))
    const ignore = (): void => {}
    sender.queue(hostMessageKinds.input, fields, ignore)
    sender.queue(hostMessageKinds.input, request.content ?? Buffer.alloc(0), ignore)
    sender.finish()
  }
  return {
    started: started.promise,
    result: ended.promise,
    kill: () => say(hostMessageKinds.kill),
    killSession: () => say(hostMessageKinds.killSession),
    hangUp: () => say(hostMessageKinds.hangUp),
    resize: (cols, rows) => say(hostMessageKinds.resize, `${cols} ${rows}`),
    type: (bytes, done) => sender.queue(hostMessageKinds.typed, bytes, done),
    send: (bytes, done) => sender.queue(hostMessageKinds.input, bytes, done),
    finish: sender.finish,
    pause: receiver.pause,
    resume() {
      receiver.resume()
      settle()
    },
    drop() {
      if (!over) say(hostMessageKinds.drop)
    },
    bury: (last) => close(last),
    hear(kind, content) {
      if (kind === agentMessageKinds.output || kind === agentMessageKinds.errors) receiver.receive({ kind, content })
      else if (kind === agentMessageKinds.status) receiveStatus(content.toString('latin1'))
      else if (kind === agentMessageKinds.closed) close()
      else if (kind === agentMessageKinds.took && content.length === 4) sender.addCredit(content.readUInt32BE(0))
    },
  }
}

type Sender = {
  queue(kind: number, bytes: Uint8Array, done: () => void): void
  /** Ends the input once the queue is sent. */
  finish(): void
  addCredit(bytes: number): void
  drop(): void
}

/** Sends at most as many bytes as the agent has credited. */
function createSender(say: ChannelOptions['say'], isOver: () => boolean): Sender {
  const outgoing: { kind: number; bytes: Uint8Array; done: () => void }[] = []
  let credit = agentWindow
  let finishing = false

  const flush = (): void => {
    for (let [first] = outgoing; first && credit > 0 && !isOver(); [first] = outgoing) {
      const piece = first.bytes.subarray(0, Math.min(chunkBytes, credit))
      credit -= piece.length
      say(first.kind, piece)
      first.bytes = first.bytes.subarray(piece.length)
      if (first.bytes.length > 0) continue
      outgoing.shift()
      first.done()
    }
    if (!finishing || outgoing.length > 0 || isOver()) return
    finishing = false
    say(hostMessageKinds.finish)
  }

  return {
    queue(kind, bytes, done) {
      if (isOver() || bytes.length === 0) {
        done()
        return
      }
      outgoing.push({ kind, bytes, done })
      flush()
    },
    finish() {
      finishing = true
      flush()
    },
    addCredit(bytes) {
      credit += bytes
      flush()
    },
    drop() {
      for (const { done } of outgoing.splice(0)) done()
    },
  }
}

type Chunk = { kind: number; content: Buffer }

type Receiver = {
  /** @throws Error if more bytes arrive than were credited */
  receive(chunk: Chunk): void
  pause(): void
  resume(): void
  /** Whether undelivered output is buffered. */
  isHolding(): boolean
}

/** Delivers output and credits the agent for it. */
function createReceiver(
  request: AgentRequest,
  { say, isOver }: { say: ChannelOptions['say']; isOver: () => boolean },
): Receiver {
  const chunks: Chunk[] = []
  let unacknowledged = 0
  let bufferedBytes = 0
  let paused = false

  const give = ({ kind, content }: Chunk): void => {
    if (kind === agentMessageKinds.output) request.onOutput?.(content)
    else request.onErrors?.(content)
    bufferedBytes -= content.length
    unacknowledged += content.length
    if (unacknowledged < creditStep || isOver()) return
    const count = Buffer.allocUnsafe(4)
    count.writeUInt32BE(unacknowledged)
    unacknowledged = 0
    say(hostMessageKinds.used, count)
  }

  return {
    receive(chunk) {
      bufferedBytes += chunk.content.length
      if (bufferedBytes + unacknowledged > agentWindow) throw new Error('The agent sent more data than requested.')
      if (paused) chunks.push(chunk)
      else give(chunk)
    },
    pause() {
      paused = true
    },
    resume() {
      paused = false
      while (!paused) {
        const next = chunks.shift()
        if (!next) break
        give(next)
      }
    },
    isHolding: () => paused || chunks.length > 0,
  }
}
