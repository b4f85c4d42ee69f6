import type { Duplex } from 'node:stream'
import { createByteStream } from '#platform/ipc/byteStream.ts'
import type { IpcServerStream } from '#platform/ipc/ipcServer.ts'
import { AppError } from '#shared/appError.ts'

/** Wraps a stream of the service as a Node duplex. `closed` aborts when the stream has closed. */
export function createStreamDuplex(stream: IpcServerStream): { duplex: Duplex; closed: AbortSignal } {
  const controller = new AbortController()
  const { duplex, onMessage, onBytes, onTurn } = createByteStream({
    ...stream,
    end: (error) => stream.end(error instanceof AppError ? error : undefined),
  })
  duplex.on('error', () => {}) // handled by `close`
  duplex.once('close', () => controller.abort())
  stream.onMessage = onMessage
  stream.onBytes = onBytes
  stream.onTurn = onTurn
  stream.onClose = () => void duplex.destroy()
  return { duplex, closed: controller.signal }
}
