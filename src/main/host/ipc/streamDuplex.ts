import type { Duplex } from 'node:stream'
import { byteStream } from '#platform/ipc/byteStream.ts'
import type { IpcServerStream } from '#platform/ipc/ipcServer.ts'
import { AppError } from '#shared/appError.ts'

/** The bytes of a stream of the service, as Node reads and writes them. `left` fires when it has closed. */
export function streamDuplex(stream: IpcServerStream): { duplex: Duplex; left: AbortSignal } {
  const left = new AbortController()
  const { duplex, onMessage, onBytes, onTurn } = byteStream({
    ...stream,
    end: (failure) => stream.end(failure instanceof AppError ? failure : undefined),
  })
  duplex.on('error', () => {}) // `close` follows
  duplex.once('close', () => left.abort())
  stream.onMessage = onMessage
  stream.onBytes = onBytes
  stream.onTurn = onTurn
  stream.onClose = () => void duplex.destroy()
  return { duplex, left: left.signal }
}
