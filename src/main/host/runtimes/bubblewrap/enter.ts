import type { Socket } from 'node:net'
import { AppError } from '#shared/appError.ts'
import type { Ending } from '../inside/ending.ts'
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

export type EnteredProcess = {
  /**
   * Resolves when the command runs or the port is connected, with the PID on the host and the connection. Bytes of a
   * port are passed to `onOutput`. Resolves with undefined on failure.
   */
  started: Promise<{ pid: number; connection: Socket } | undefined>
  /** Resolves after all output has been delivered. Never rejects. */
  ending: Promise<Ending>
  /** Kills the command's process group, even if it has not started yet. Ends any other request. */
  kill(): void
}

export type EnterRequest = {
  mode: 'exec' | 'terminal' | 'connect' | 'ports' | 'write' | 'read' | 'file'
  /** Fields, each sent with a trailing NUL. */
  fields: readonly string[]
  content?: Uint8Array
  onOutput?: (bytes: Buffer) => void
  onErrors?: (bytes: Buffer) => void
}

/** Time after a kill for reading the remaining output before the connection is destroyed. */
const killDeadlineMs = 5_000
const maxTries = 3
const ignore = (): void => {}

export function enter(entrance: Entrance, request: EnterRequest): EnteredProcess {
  const started = Promise.withResolvers<{ pid: number; connection: Socket } | undefined>()
  let connection: Socket | undefined
  let killed = false
  let deadline: NodeJS.Timeout | undefined

  const converse = async (socket: Socket): Promise<Ending | 'unheard'> => {
    connection = socket
    if (killed) socket.destroy()
    const { ending, heard } = await runConversation({ socket, request, onStarted: started.resolve })
    return heard || killed ? ending : 'unheard'
  }
  const fromOutside = async (): Promise<Ending> => {
    const ending = await converse(await entrance.connectFromOutside())
    return ending === 'unheard' ? { kind: 'lost', detail: 'The sandbox supervisor refused the connection.' } : ending
  }
  const throughForkServer = async (): Promise<Ending> => {
    for (let tries = 0; tries < maxTries && !killed; tries++) {
      const ending = await converse(await entrance.connect())
      // Joining from outside requires no process capacity in the sandbox.
      if (ending !== 'unheard') return ending.kind === 'failed' && ending.stage === 'room' ? fromOutside() : ending
    }
    return { kind: 'lost', detail: 'The sandbox fork server exited.' }
  }

  const ending = throughForkServer()
    .catch(toRefusal)
    .finally(() => {
      clearTimeout(deadline)
      started.resolve(undefined)
    })
  return {
    started: started.promise,
    ending,
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

function toRefusal(error: unknown): Ending {
  if (error instanceof AppError) return { kind: 'refused', error }
  return { kind: 'lost', detail: String(error) }
}

type ConversationRequest = {
  socket: Socket
  request: EnterRequest
  onStarted: (started: { pid: number; connection: Socket } | undefined) => void
}

/** `heard`: whether the request was accepted and must not be repeated. */
function runConversation({
  socket,
  request,
  onStarted,
}: ConversationRequest): Promise<{ ending: Ending; heard: boolean }> {
  const { mode, fields, content, onOutput = ignore, onErrors = ignore } = request
  let heard = false
  let failed: Ending | undefined
  let ended: Ending | undefined

  const onNews = (line: string): boolean => {
    const [word, first = '', two = ''] = line.split(' ')
    heard = true
    if (word === 'e') failed ??= { kind: 'failed', stage: first, errno: Number(two) }
    else if (word === 'x') ended = { kind: 'ended', status: Number(first) }
    else if (word === 'p') {
      onStarted(failed ? undefined : { pid: Number(first), connection: socket })
      return mode === 'connect'
    }
    return false
  }
  return new Promise((resolve) => {
    const finish = (): void => {
      socket.destroy() // the process has exited: discards unread output and unsent input
      resolve({ ending: failed ?? ended ?? { kind: 'lost', detail: '' }, heard })
    }
    socket.on('data', createEnterMessageReader({ onOutput, onErrors, onNews }))
    socket.on('error', ignore) // `close` follows, and the previous messages explain the error
    socket.once('end', () => {
      if (mode === 'connect' && !failed) ended = { kind: 'ended', status: 0 }
      finish()
    })
    socket.once('close', finish)
    socket.cork()
    socket.write([mode, ...fields].map((field) => `${field}\0`).join(''))
    if (content && content.length > 0) socket.write(content)
    socket.uncork()
  })
}
