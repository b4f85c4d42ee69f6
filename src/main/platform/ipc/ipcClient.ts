import { createConnection, type Socket } from 'node:net'
import { dirname } from 'node:path'
import { AppError, parseErrorCode } from '#shared/appError.ts'
import { assertOwnFolder } from '../files/ownFolder.ts'
import { createFrameReader, type Frame, writeFrame } from './frames.ts'
import { IpcMessage } from './messages.ts'

export type IpcReply = { result: unknown; body: Buffer }

export type IpcStreamHandlers = {
  onMessage(message: unknown): void
  onBytes(bytes: Buffer): void
  /** Called once: with undefined after a regular end, otherwise with the error. */
  onEnd(error: AppError | undefined): void
}

export type IpcStream = {
  send(message: unknown): void
  /** Sends bytes without copying them. The caller must not modify them afterwards. */
  sendBytes(bytes: Uint8Array): void
  close(): void
}

export type IpcClient = {
  /** @throws AppError of the other side; `host/unavailable` if the connection is lost or `signal` aborts */
  call(method: string, params: unknown, options?: { body?: Uint8Array; signal?: AbortSignal }): Promise<IpcReply>
  open(params: unknown, handlers: IpcStreamHandlers): IpcStream
  /** Resolves when the connection has ended, for any reason. */
  readonly ended: Promise<void>
  close(): void
}

/**
 * Connects to a server created by `listenIpc`. Rejects with the socket's error if no server listens.
 * @throws AppError `data/unusable` if the socket is in a folder of another user, because that user could impersonate
 * the server
 */
export async function connectIpc(options: {
  path: string
  onEvent: (event: unknown) => void
  signal?: AbortSignal
}): Promise<IpcClient> {
  await assertOwnFolder(dirname(options.path))
  let read = (_chunk: Buffer): void => {}
  const socket = await connectTo(options.path, (chunk) => read(chunk), options.signal)
  const calls = createCalls(socket)
  const streams = createStreams(socket)

  const receive = ({ header, body }: Frame): void => {
    const message = IpcMessage.parse(header)
    switch (message.kind) {
      case 'result':
        calls.resolve(message.id, { result: message.result, body })
        return
      case 'error':
        calls.reject(message.id, createError(message.code, message.message, message.detail))
        return
      case 'event':
        options.onEvent(message.event)
        return
      case 'data':
        streams.receive(message.stream, message.message, body)
        return
      case 'end': {
        const { code, message: text = 'The client was closed.' } = message
        streams.end(message.stream, code === undefined ? undefined : createError(code, text))
        return
      }
      default:
        throw new Error(`A server never sends ${message.kind}.`)
    }
  }

  const cut = createFrameReader(receive)
  read = (chunk) => {
    try {
      cut(chunk)
    } catch (error) {
      socket.destroy(error instanceof Error ? error : new Error(String(error)))
    }
  }
  socket.on('error', () => {}) // `close` follows and rejects pending calls
  const ended = new Promise<void>((resolve) => {
    socket.once('close', () => {
      calls.disconnect()
      streams.disconnect()
      resolve()
    })
  })

  return { call: calls.call, open: streams.open, ended, close: () => socket.destroy() }
}

type PendingCall = { resolve: (reply: IpcReply) => void; reject: (error: AppError) => void }

/** Calls whose reply has not arrived. */
function createCalls(socket: Socket) {
  const pending = new Map<number, PendingCall>()
  let lastId = 0

  const call: IpcClient['call'] = (method, params, { body, signal } = {}) => {
    if (socket.destroyed) return Promise.reject(createLostConnectionError())
    if (signal?.aborted) return Promise.reject(createLateError(method))
    const id = ++lastId
    return new Promise<IpcReply>((resolve, reject) => {
      const cancel = () => {
        if (!pending.delete(id)) return
        if (!socket.destroyed) writeFrame(socket, { kind: 'cancel', id })
        reject(createLateError(method))
      }
      signal?.addEventListener('abort', cancel, { once: true })
      const cleanUp = () => signal?.removeEventListener('abort', cancel)
      pending.set(id, {
        resolve(reply) {
          cleanUp()
          resolve(reply)
        },
        reject(error) {
          cleanUp()
          reject(error)
        },
      })
      writeFrame(socket, { kind: 'call', id, method, params }, body)
    })
  }
  return {
    call,
    resolve(id: number, reply: IpcReply): void {
      pending.get(id)?.resolve(reply)
      pending.delete(id)
    },
    reject(id: number, error: AppError): void {
      pending.get(id)?.reject(error)
      pending.delete(id)
    },
    disconnect(): void {
      for (const { reject } of pending.values()) reject(createLostConnectionError())
      pending.clear()
    },
  }
}

/** Streams that neither side has ended. */
function createStreams(socket: Socket) {
  const streams = new Map<number, IpcStreamHandlers>()
  let lastId = 0

  const open: IpcClient['open'] = (params, handlers) => {
    const stream = ++lastId
    if (socket.destroyed) {
      queueMicrotask(() => handlers.onEnd(createLostConnectionError()))
      return { send: () => {}, sendBytes: () => {}, close: () => {} }
    }
    streams.set(stream, handlers)
    writeFrame(socket, { kind: 'open', stream, params })
    return {
      send(message) {
        if (streams.has(stream)) writeFrame(socket, { kind: 'data', stream, message })
      },
      sendBytes(bytes) {
        if (streams.has(stream)) writeFrame(socket, { kind: 'data', stream }, bytes)
      },
      close() {
        if (streams.delete(stream) && !socket.destroyed) writeFrame(socket, { kind: 'end', stream })
      },
    }
  }
  return {
    open,
    /** Delivers a message, or bytes if there is no message. */
    receive(id: number, message: unknown, bytes: Buffer): void {
      const stream = streams.get(id)
      if (message === undefined) stream?.onBytes(bytes)
      else stream?.onMessage(message)
    },
    end(id: number, error: AppError | undefined): void {
      const stream = streams.get(id)
      streams.delete(id)
      stream?.onEnd(error)
    },
    disconnect(): void {
      for (const stream of streams.values()) stream.onEnd(createLostConnectionError())
      streams.clear()
    },
  }
}

function createError(code: string, message: string, detail?: string): AppError {
  return new AppError(parseErrorCode(code) ?? 'internal/unexpected', message, {
    ...(detail !== undefined && { detail }),
  })
}

function createLostConnectionError(): AppError {
  return new AppError('host/unavailable', 'The connection to the sandbox host was lost.')
}

function createLateError(method: string): AppError {
  return new AppError('host/unavailable', `The sandbox host did not respond to ${method} in time.`)
}

/** Size of the reused read buffer. A new buffer per read would cause most of the garbage under load. */
const readBytes = 256 * 1024

/** `signal` applies only to connecting, not to an open connection. */
function connectTo(path: string, onChunk: (chunk: Buffer) => void, signal: AbortSignal | undefined): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const buffer = Buffer.allocUnsafeSlow(readBytes)
    const callback = (count: number): boolean => {
      onChunk(buffer.subarray(0, count))
      return true
    }
    const socket = createConnection({ path, onread: { buffer, callback } })
    const give = () => socket.destroy(new AppError('host/unavailable', `No response at ${path} in time.`))
    const fail = (error: Error) => {
      signal?.removeEventListener('abort', give)
      reject(error)
    }
    signal?.addEventListener('abort', give, { once: true })
    socket.once('error', fail)
    socket.once('connect', () => {
      signal?.removeEventListener('abort', give)
      socket.off('error', fail)
      resolve(socket)
    })
    if (signal?.aborted) give()
  })
}
