import { AppError } from '../../../shared/appError.ts'
import { PortConnect } from '../../../shared/contract/hostIpc.ts'
import type { IpcServerStream } from '../../platform/ipc/ipcServer.ts'

type Open<P> = (params: P, stream: IpcServerStream) => void

/** Tells the two kinds of streams apart. */
export function streamHandler({ attach, connect }: { attach: Open<unknown>; connect: Open<PortConnect> }) {
  return (params: unknown, stream: IpcServerStream): void => {
    if (typeof params !== 'object' || params === null || !('kind' in params)) {
      attach(params, stream)
      return
    }
    const parsed = PortConnect.safeParse(params)
    if (parsed.success) connect(parsed.data, stream)
    else stream.end(new AppError('request/invalid', `A port is not reached so: ${parsed.error.issues[0]?.message}`))
  }
}
