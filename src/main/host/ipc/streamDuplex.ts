import type { Duplex } from 'node:stream'
import { createByteStream } from '#platform/ipc/byteStream.ts'
import type { IpcServerStream } from '#platform/ipc/ipcServer.ts'
import { AppError } from '#shared/appError.ts'

/** The bytes of a stream of the service, as Node reads and writes them. `left` fires when it has closed. */
export function streamDuplex(stream: IpcServerStream): { duplex: Duplex; closed: AbortSignal } {
  const controller = new AbortController()
  const { duplex, onMessage, onBytes, onTurn } = createByteStream({
    ...stream,
    end: (error) => stream.end(error instanceof AppError ? error : undefined),
  })
  duplex.on('error', () => {}) // `close` follows
  duplex.once('close', () => controller.abort())
  stream.onMessage = onMessage
  stream.onBytes = onBytes
  stream.onTurn = onTurn
  stream.onClose = () => void duplex.destroy()
  return { duplex, closed: controller.signal }
}
