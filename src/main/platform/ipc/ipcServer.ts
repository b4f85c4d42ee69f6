import { createServer, type Socket } from 'node:net'
import { AppError } from '#shared/appError.ts'
import { type Log, toLoggedError } from '../logging/log.ts'
import { listenPrivately } from '../net/privateSocket.ts'
import { createFrameReader, type Frame, writeFrame } from './frames.ts'
import { IpcMessage } from './messages.ts'

export type IpcAnswer = { result: unknown; body?: Uint8Array }
export type IpcCall = { params: unknown; body: Buffer; signal: AbortSignal }

/** Server side of a stream. The handler sets `onMessage` and the properties after it before it returns. */
export type IpcServerStream = {
  send(message: unknown): void
  /** Sends bytes without copying them. The caller must not modify them afterwards. */
  sendBytes(bytes: Uint8Array): void
  /** Whether the connection is congested. Buffer the bytes then; `onTurn` is called when it has capacity. */
  isCongested(): boolean
  end(error?: AppError): void
  onMessage: (message: unknown) => void
  onBytes: (bytes: Buffer) => void
  /** Sends some of the buffered data and returns whether more remains. Streams take turns. */
  onTurn: () => boolean
  onClose: () => void
}

export type IpcServer = { broadcast(event: unknown): void; connections(): number; close(): Promise<void> }

export type IpcServerOptions = {
  path: string
  handlers: Readonly<Record<string, (call: IpcCall) => Promise<IpcAnswer>>>
  open: (params: unknown, stream: IpcServerStream) => void
  onConnections?: (count: number) => void
  log: Log
}

/** Bytes buffered in a socket above which streams pause, so that a reply never queues behind bulk data. */
const congestionBytes = 128 * 1024
/** Grace period of a closing server for its last replies. */
const closingMs = 2_000

/** Listens on a Unix socket that only this user can open (0600). */
export async function listenIpc(options: IpcServerOptions): Promise<IpcServer> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    options.onConnections?.(sockets.size)
    serve(socket, options)
    socket.once('close', () => {
      sockets.delete(socket)
      options.onConnections?.(sockets.size)
    })
  })
  await listenPrivately(server, options.path)
  server.on('error', (error) => options.log.error('failed to accept a connection', { error }))
  return {
    broadcast(event) {
      for (const socket of sockets) if (socket.writable) writeFrame(socket, { kind: 'event', event })
    },
    connections: () => sockets.size,
    close: () =>
      new Promise((resolve) => {
        const impatient = setTimeout(() => {
          for (const socket of sockets) socket.destroy()
        }, closingMs)
        server.close(() => {
          clearTimeout(impatient)
          resolve()
        })
        for (const socket of sockets) socket.destroySoon()
      }),
  }
}

type Send = (header: IpcMessage, body?: Uint8Array) => void

function serve(socket: Socket, { handlers, open, log }: IpcServerOptions): void {
  const send: Send = (header, body) => {
    if (!socket.destroyed && socket.writable) writeFrame(socket, header, body)
  }
  const calls = createCalls({ handlers, send, log })
  const streams = createStreams(socket, { open, send })

  const receive = ({ header, body }: Frame): void => {
    const message = IpcMessage.parse(header)
    switch (message.kind) {
      case 'call':
        void calls.answer(message, body)
        return
      case 'cancel':
        calls.cancel(message.id)
        return
      case 'open':
        streams.open(message.stream, message.params)
        return
      case 'data':
        streams.receive(message.stream, message.message, body)
        return
      case 'end':
        streams.close(message.stream)
        return
      default:
        throw new Error(`A client never sends ${message.kind}.`)
    }
  }

  const read = createFrameReader(receive)
  socket.on('data', (chunk: Buffer) => {
    try {
      read(chunk)
    } catch (error) {
      log.error('protocol violation on a connection', { error })
      socket.destroy()
    }
  })
  socket.on('drain', streams.takeTurns)
  socket.on('error', (error) => log.debug('connection failed', { error }))
  socket.once('close', () => {
    calls.cancelAll()
    streams.closeAll()
  })
}

/** Calls of a connection that are in progress. */
function createCalls({ handlers, send, log }: Pick<IpcServerOptions, 'handlers' | 'log'> & { send: Send }) {
  const pending = new Map<number, AbortController>()

  return {
    async answer({ id, method, params }: Extract<IpcMessage, { kind: 'call' }>, body: Buffer): Promise<void> {
      const controller = new AbortController()
      pending.set(id, controller)
      try {
        const handler = Object.hasOwn(handlers, method) ? handlers[method] : undefined
        if (!handler) throw new AppError('internal/unexpected', `The sandbox host does not support ${method}.`)
        const { result, body: reply } = await handler({ params, body, signal: controller.signal })
        send({ kind: 'result', id, result }, reply)
      } catch (error) {
        if (!(error instanceof AppError)) log.error('call failed', { method, error })
        else if (error.status >= 500) log.warn('call failed', { method, error: toLoggedError(error) })
        const appError =
          error instanceof AppError ? error : new AppError('internal/unexpected', 'The sandbox host failed.')
        const { code, message, detail } = appError
        send({ kind: 'error', id, code, message, ...(detail !== undefined && { detail }) })
      } finally {
        pending.delete(id)
      }
    },
    cancel: (id: number) => pending.get(id)?.abort(),
    cancelAll(): void {
      for (const controller of pending.values()) controller.abort()
    },
  }
}

/** Open streams of a connection. They take turns when it is congested. */
function createStreams(socket: Socket, { open, send }: Pick<IpcServerOptions, 'open'> & { send: Send }) {
  const streams = new Map<number, IpcServerStream>()
  const waiting = new Set<number>()

  const createStream = (id: number): IpcServerStream => ({
    send(message) {
      if (streams.has(id)) send({ kind: 'data', stream: id, message })
    },
    sendBytes(bytes) {
      if (streams.has(id)) send({ kind: 'data', stream: id }, bytes)
    },
    isCongested() {
      if (socket.writableLength < congestionBytes) return false
      waiting.add(id)
      return true
    },
    end(error) {
      if (!streams.delete(id)) return
      send({ kind: 'end', stream: id, ...(error && { code: error.code, message: error.message }) })
    },
    onMessage: () => {},
    onBytes: () => {},
    onTurn: () => false,
    onClose: () => {},
  })

  return {
    open(id: number, params: unknown): void {
      const stream = createStream(id)
      streams.set(id, stream)
      open(params, stream)
    },
    /** Delivers a message, or bytes if there is no message. */
    receive(id: number, message: unknown, bytes: Buffer): void {
      const stream = streams.get(id)
      if (message === undefined) stream?.onBytes(bytes)
      else stream?.onMessage(message)
    },
    takeTurns(): void {
      while (waiting.size > 0 && socket.writableLength < congestionBytes) {
        for (const id of waiting) {
          waiting.delete(id)
          if (streams.get(id)?.onTurn()) waiting.add(id)
          if (socket.writableLength >= congestionBytes) return
        }
      }
    },
    close(id: number): void {
      const stream = streams.get(id)
      streams.delete(id)
      stream?.onClose()
    },
    closeAll(): void {
      const open = [...streams.values()]
      streams.clear()
      for (const stream of open) stream.onClose()
    },
  }
}
