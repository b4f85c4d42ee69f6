import type { IpcServerStream } from '#platform/ipc/ipcServer.ts'
import { AppError } from '#shared/appError.ts'
import { TerminalAttach } from '#shared/contract/hostIpc.ts'
import { ClientStreamMessage, type ServerStreamMessage } from '#shared/contract/terminalStream.ts'
import { terminalLimits } from '#shared/contract/terminals.ts'
import type { TerminalSession } from '../terminals/session/terminalSession.ts'
import type { Terminals } from '../terminals/terminals.ts'
import { createInputDeduplicator, type InputDeduplicator } from './inputDeduplicator.ts'

/** Attaches the peer of a stream to a terminal, for output and input. */
export function createAttachHandler(terminals: Terminals): (params: unknown, stream: IpcServerStream) => void {
  const typed = new WeakMap<TerminalSession, InputDeduplicator>()
  const getInputDeduplicator = (session: TerminalSession): InputDeduplicator => {
    const existing = typed.get(session) ?? createInputDeduplicator()
    typed.set(session, existing)
    return existing
  }
  return (params, stream) => {
    try {
      const { sandboxId, terminalId, ...choices } = parseAttach(params)
      const session = terminals.get(sandboxId, terminalId)
      const viewer = session.attach(stream, choices)
      stream.onTurn = () => viewer.turn()
      stream.onClose = () => viewer.close()
      stream.onMessage = (message) => {
        const acknowledgeInput = (): void => {
          const acknowledgement = toAcknowledgement(message)
          if (acknowledgement) stream.send(acknowledgement)
        }
        const refusal = toRefusal(() => {
          const request = parseMessage(message)
          if (request.type === 'ack') viewer.acknowledge(request.bytes)
          else if (request.type === 'drawn') viewer.onDrawn()
          else if (request.type === 'resize') session.resize(request)
          else if (request.type === 'colours') session.draws(request.colours)
          else if (getInputDeduplicator(session).isNew(request)) type(session, request.data, acknowledgeInput)
          else acknowledgeInput()
        })
        if (!refusal) return
        viewer.tell(refusal)
        acknowledgeInput() // acknowledged so that the viewer does not resend it
      }
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      stream.end(error)
    }
  }
}

function type(session: TerminalSession, data: string, onWritten: () => void): void {
  const bytes = Buffer.from(data)
  if (bytes.length > terminalLimits.maxInputBytes) {
    throw new AppError('request/too-large', `Input of ${bytes.length} bytes is too large for one message.`)
  }
  session.write(bytes, onWritten)
}

function toAcknowledgement(message: unknown): ServerStreamMessage | undefined {
  const { data: request } = ClientStreamMessage.safeParse(message)
  return request?.type === 'input' && request.seq !== undefined ? { type: 'taken', seq: request.seq } : undefined
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

function toRefusal(act: () => void): ServerStreamMessage | undefined {
  try {
    act()
    return undefined
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return { type: 'refused', error: error.message, code: error.code }
  }
}
