import type { WebSocket } from 'ws'
import { parseJsonOrUndefined } from '#platform/parsing/parseJsonOrUndefined.ts'
import { AppError } from '#shared/appError.ts'
import type { TerminalAttach } from '#shared/contract/hostIpc.ts'
import {
  ClientStreamMessage,
  type ServerStreamMessage,
  StreamQuery,
  streamClose,
  terminalStreamPath,
} from '#shared/contract/terminalStream.ts'
import { TerminalParams, terminalLimits } from '#shared/contract/terminals.ts'
import { createSocketEndpoint, type SocketEndpoint } from '../base/endpoint.ts'
import type { HostCalls } from '../host/hostCalls.ts'
import type { SandboxRegistry } from '../sandboxes/sandboxRegistry.ts'

/**
 * Maximum buffered bytes before a client is disconnected. The host pauses output that a viewer has not acknowledged, so
 * usually little more than its window and a snapshot is buffered. The limit applies to clients that acknowledge output
 * without reading it.
 */
const maxWaitingBytes = 64 * 1024 * 1024

/** Connects a WebSocket to a terminal of the host, in both directions. */
export function createTerminalStream(options: {
  sandboxes: Pick<SandboxRegistry, 'requireOwned'>
  host: Pick<HostCalls, 'attach'>
}): SocketEndpoint {
  const { sandboxes, host } = options

  const connect = (socket: WebSocket, terminal: TerminalAttach): void => {
    const send = (message: ServerStreamMessage) => socket.send(JSON.stringify(message))
    const stream = host.attach(terminal, {
      onMessage: (message) => socket.send(JSON.stringify(message)),
      onBytes(bytes) {
        socket.send(bytes)
        if (socket.bufferedAmount <= maxWaitingBytes) return
        stream.close()
        socket.close(streamClose.tooSlow, 'Too slow')
      },
      onEnd: (error) => closeSocket(socket, error),
    })
    socket.on('message', (data: Buffer, isBinary: boolean) => {
      const message = isBinary ? 'A message must be JSON text.' : parseMessage(data)
      if (typeof message === 'string') send({ type: 'refused', error: message, code: 'request/invalid' })
      else stream.send(message)
    })
    socket.once('close', () => stream.close())
  }

  return createSocketEndpoint({
    path: terminalStreamPath,
    params: TerminalParams,
    query: StreamQuery,
    linkMayUse: true,
    work: 'terminal-socket',
    serve(socket, { params, query }, caller) {
      const open = async (): Promise<void> => {
        try {
          await sandboxes.requireOwned(caller, params.id)
          if (socket.readyState !== socket.OPEN) return
          connect(socket, { sandboxId: params.id, terminalId: params.sessionId, ...query })
        } catch (error) {
          // Browsers hide the status of a refused upgrade, so the socket is opened and closed with the reason.
          closeSocket(socket, toAppError(error))
        } finally {
          socket.resume()
        }
      }
      socket.pause() // messages have no listener until the sandbox is found
      void open()
    },
  })
}

/** @returns the parsed message, or the reason why it is invalid */
function parseMessage(data: Buffer): ClientStreamMessage | string {
  const { success, data: message } = ClientStreamMessage.safeParse(parseJsonOrUndefined(data.toString('utf8')))
  if (!success)
    return 'A message must be `input`, `resize` with cols and rows from 1 to 1000, `colours`, `drawn` or `ack`.'
  if (message.type !== 'input' || Buffer.byteLength(message.data) <= terminalLimits.maxInputBytes) return message
  return `\`data\` must have at most ${terminalLimits.maxInputBytes} bytes.`
}

function closeSocket(socket: WebSocket, error: AppError | undefined): void {
  if (!error) socket.close(1000, 'The terminal has exited')
  else socket.close(getCloseCode(error), getReason(error))
}

function getCloseCode({ code }: AppError): number {
  switch (code) {
    case 'sandbox/not-found':
    case 'terminal/not-found':
      return streamClose.notFound
    case 'terminal/too-slow':
      return streamClose.tooSlow
    case 'host/unavailable':
    case 'service/unavailable':
    case 'data/unavailable':
      return streamClose.unavailable
    default:
      return streamClose.refused
  }
}

/** The protocol allows 123 bytes. */
function getReason({ message }: AppError): string {
  return Buffer.from(message).subarray(0, 120).toString('utf8').replaceAll('\uFFFD', '')
}

function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error
  return new AppError('service/unavailable', 'The sandbox cannot be looked up.', { cause: error })
}
