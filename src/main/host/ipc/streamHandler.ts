import type { IpcServerStream } from '#platform/ipc/ipcServer.ts'
import { AppError } from '#shared/appError.ts'
import { FolderArchive, PortConnect } from '#shared/contract/hostIpc.ts'

type Open<P> = (params: P, stream: IpcServerStream) => void
type Openers = { attach: Open<unknown>; connect: Open<PortConnect>; archive: Open<FolderArchive> }

export function createStreamHandler({ attach, connect, archive }: Openers) {
  return (params: unknown, stream: IpcServerStream): void => {
    if (typeof params !== 'object' || params === null || !('kind' in params)) {
      attach(params, stream)
      return
    }
    const folder = FolderArchive.safeParse(params)
    if (folder.success) {
      archive(folder.data, stream)
      return
    }
    const parsed = PortConnect.safeParse(params)
    if (parsed.success) connect(parsed.data, stream)
    else stream.end(new AppError('request/invalid', `Invalid stream parameters: ${parsed.error.issues[0]?.message}`))
  }
}
