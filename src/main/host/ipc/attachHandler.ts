import { AppError } from '../../../shared/appError.ts'
import { TerminalAttach } from '../../../shared/contract/hostIpc.ts'
import { ClientStreamMessage, type ServerStreamMessage } from '../../../shared/contract/terminalStream.ts'
import { terminalLimits } from '../../../shared/contract/terminals.ts'
import type { IpcServerStream } from '../../platform/ipc/ipcServer.ts'
import type { TerminalSession } from '../terminals/terminalSession.ts'
import type { Terminals } from '../terminals/terminals.ts'

/** Lets the other side of a stream watch a terminal and type into it. */
export function attachHandler(terminals: Terminals): (params: unknown, stream: IpcServerStream) => void {
  return (params, stream) => {
    try {
      const { sandboxId, terminalId, scrollback } = parseAttach(params)
      const session = terminals.get(sandboxId, terminalId)
      const viewer = session.attach(stream, scrollback)
      stream.onTurn = () => viewer.turn()
      stream.onClose = () => viewer.close()
      stream.onMessage = (message) => {
        const refusal = refused(() => {
          const request = parseMessage(message)
          if (request.type === 'ack') viewer.acknowledge(request.bytes)
          else follow(session, request)
        })
        if (refusal) stream.send(refusal)
      }
    } catch (failure) {
      if (!(failure instanceof AppError)) throw failure
      stream.end(failure)
    }
  }
}

function follow(session: TerminalSession, request: Exclude<ClientStreamMessage, { type: 'ack' }>): void {
  if (request.type === 'resize') {
    session.resize(request)
    return
  }
  const bytes = Buffer.from(request.data)
  if (bytes.length > terminalLimits.maxInputBytes) {
    throw new AppError('request/too-large', `Input of ${bytes.length} bytes is more than a terminal takes at once.`)
  }
  session.write(bytes)
}

function parseAttach(params: unknown): TerminalAttach {
  const parsed = TerminalAttach.safeParse(params)
  if (parsed.success) return parsed.data
  throw new AppError('request/invalid', `A viewer cannot attach: ${parsed.error.issues[0]?.message}`)
}

function parseMessage(message: unknown): ClientStreamMessage {
  const parsed = ClientStreamMessage.safeParse(message)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw new AppError('request/invalid', `${issue?.path.join('.')} ${issue?.message}`.trim())
}

function refused(act: () => void): ServerStreamMessage | undefined {
  try {
    act()
    return undefined
  } catch (failure) {
    if (!(failure instanceof AppError)) throw failure
    return { type: 'refused', error: failure.message, code: failure.code }
  }
}
