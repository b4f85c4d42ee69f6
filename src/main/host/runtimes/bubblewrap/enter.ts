import type { Socket } from 'node:net'
import { AppError } from '#shared/appError.ts'
import {
  createStatusReader,
  encodeFields,
  type Operation,
  type OperationRequest,
  type OperationResult,
  type OperationTransport,
} from '../inside/execProtocol.ts'
import { createEnterMessageReader } from './enterMessages.ts'

/** Connections into one running sandbox. */
export type Entrance = {
  /** Connects to the sandbox's fork server. */
  connect(): Promise<Socket>
  /**
   * Connects to the sandbox supervisor, which joins from outside. Used when the sandbox has no capacity for another
   * process.
   */
  connectFromOutside(): Promise<Socket>
  /** Unlocks the program's side of a terminal. `master`: the other side, a descriptor of this process. */
  giveTerminal(master: number): Promise<void>
}

/** PID on the host, and the connection. Bytes of a port are passed to `onOutput`. */
export type StartedProcess = { pid: number; connection: Socket }
export type EnteredProcess = Operation<StartedProcess>

export type EnterRequest = OperationRequest<'exec' | 'terminal' | 'connect' | 'ports' | 'write' | 'read' | 'file'>

/** Time after a kill for reading the remaining output before the connection is destroyed. */
const killDeadlineMs = 5_000
const maxTries = 3
const ignore = (): void => {}

/** Transport over connections to the fork server. */
export function createEntranceTransport(entrance: Entrance): OperationTransport {
  return {
    open(request) {
      const { started, result, kill } = enter(entrance, request)
      return { started: started.then((process) => process?.connection), result, kill }
    },
  }
}

export function enter(entrance: Entrance, request: EnterRequest): EnteredProcess {
  const started = Promise.withResolvers<StartedProcess | undefined>()
  let connection: Socket | undefined
  let killed = false
  let deadline: NodeJS.Timeout | undefined

  const converse = async (socket: Socket): Promise<OperationResult | 'not-accepted'> => {
    connection = socket
    if (killed) socket.destroy()
    const { result, accepted } = await runConversation({ socket, request, onStarted: started.resolve })
    return accepted || killed ? result : 'not-accepted'
  }
  const fromOutside = async (): Promise<OperationResult> => {
    const result = await converse(await entrance.connectFromOutside())
    if (result !== 'not-accepted') return result
    return { kind: 'lost', detail: 'The sandbox supervisor refused the connection.' }
  }
  const throughForkServer = async (): Promise<OperationResult> => {
    for (let tries = 0; tries < maxTries && !killed; tries++) {
      const result = await converse(await entrance.connect())
      if (result === 'not-accepted') continue
      // Joining from outside requires no process capacity in the sandbox.
      return result.kind === 'failed' && result.stage === 'room' ? fromOutside() : result
    }
    return { kind: 'lost', detail: 'The sandbox fork server exited.' }
  }

  const result = throughForkServer()
    .catch(toRefusal)
    .finally(() => {
      clearTimeout(deadline)
      started.resolve(undefined)
    })
  return {
    started: started.promise,
    result,
    kill() {
      if (killed) return
      killed = true
      if (request.mode !== 'exec') connection?.destroy()
      else if (connection) {
        connection.write('k')
        deadline = setTimeout(() => connection?.destroy(), killDeadlineMs)
      }
    },
  }
}

function toRefusal(error: unknown): OperationResult {
  if (error instanceof AppError) return { kind: 'refused', error }
  return { kind: 'lost', detail: String(error) }
}

type ConversationRequest = {
  socket: Socket
  request: EnterRequest
  onStarted: (started: StartedProcess) => void
}

/** `accepted`: whether the request was accepted and must not be repeated. */
function runConversation({
  socket,
  request,
  onStarted,
}: ConversationRequest): Promise<{ result: OperationResult; accepted: boolean }> {
  const { mode, fields, content, onOutput = ignore, onErrors = ignore } = request
  const status = createStatusReader()
  let accepted = false

  const onStatus = (line: string): boolean => {
    accepted = true
    const { startedPid } = status.receive(line)
    if (startedPid === undefined) return false
    onStarted({ pid: startedPid, connection: socket })
    return mode === 'connect'
  }
  return new Promise((resolve) => {
    const finish = (isComplete: boolean): void => {
      socket.destroy() // the process has exited: discards unread output and unsent input
      // A port has no exit status: its output ends with the connection.
      const end: OperationResult = isComplete ? { kind: 'ended', status: 0 } : { kind: 'lost', detail: '' }
      resolve({ result: status.result() ?? end, accepted })
    }
    socket.on('data', createEnterMessageReader({ onOutput, onErrors, onStatus }))
    socket.on('error', ignore) // `close` follows, and the previous messages explain the error
    socket.once('end', () => finish(mode === 'connect'))
    socket.once('close', () => finish(false))
    socket.cork()
    socket.write(encodeFields([mode, ...fields]))
    if (content && content.length > 0) socket.write(content)
    socket.uncork()
  })
}
