import type { Duplex } from 'node:stream'
import { createByteStream } from '#platform/ipc/byteStream.ts'
import type { IpcClient, IpcStream } from '#platform/ipc/ipcClient.ts'
import type { FolderArchive, PortConnect } from '#shared/contract/hostIpc.ts'

/** Resolves when the port in the sandbox took the connection, or the folder is about to come. */
export function openBytes(
  client: Pick<IpcClient, 'open'>,
  to: PortConnect | FolderArchive,
  signal: AbortSignal,
): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted()
    const giveUp = (): void => void bytes.duplex.destroy(signal.reason)
    const bytes = createByteStream(
      {
        send: (message) => stream.send(message),
        sendBytes: (piece) => stream.sendBytes(piece),
        isCongested: () => false, // a window for each connection, and a host that reads at once
        end: () => stream.close(),
      },
      () => {
        signal.removeEventListener('abort', giveUp)
        resolve(bytes.duplex)
      },
    )
    signal.addEventListener('abort', giveUp, { once: true })
    bytes.duplex.on('error', reject) // after it was opened, the consumer handles errors as well
    bytes.duplex.once('close', () => {
      signal.removeEventListener('abort', giveUp)
      reject(new Error('The connection ended before it was opened.'))
    })
    const stream: IpcStream = client.open(to, {
      onMessage: bytes.onMessage,
      onBytes: bytes.onBytes,
      onEnd: bytes.onEnd,
    })
  })
}
