import { pipeline } from 'node:stream/promises'
import type { IpcServerStream } from '#platform/ipc/ipcServer.ts'
import { AppError } from '#shared/appError.ts'
import type { FolderArchive } from '#shared/contract/hostIpc.ts'
import type { Sandboxes } from '../sandboxes/sandboxes.ts'
import { createStreamDuplex } from './streamDuplex.ts'

/** Limit across all sandboxes. Each archive is a process that reads at full speed. */
const maxArchives = 16

/** Streams a folder to the service as a tar, at the speed of the consumer. */
export function createArchiveHandler(sandboxes: Pick<Sandboxes, 'get'>) {
  let underWay = 0

  const send = async ({ sandboxId, path }: FolderArchive, stream: IpcServerStream): Promise<void> => {
    const { duplex, closed } = createStreamDuplex(stream)
    duplex.resume()
    const tar = await sandboxes.get(sandboxId).files.archive(path, closed)
    stream.send({ type: 'opened' })
    await pipeline(tar, duplex)
  }

  return (params: FolderArchive, stream: IpcServerStream): void => {
    if (underWay >= maxArchives) {
      stream.end(new AppError('request/rate', `${maxArchives} folder downloads are already running.`))
      return
    }
    underWay++
    void send(params, stream)
      .catch((error: unknown) => stream.end(error instanceof AppError ? error : createBrokenOffError(params.path)))
      .finally(() => underWay--)
  }
}

function createBrokenOffError(path: string): AppError {
  return new AppError('exec/failed', `${path} could not be read completely.`)
}
