import { AppError } from '#shared/appError.ts'
import { createNotStartedError, parseExit, toCommandFields } from '../inside/commands.ts'
import type { OperationResult } from '../inside/execProtocol.ts'
import { createInputBudget } from '../inside/inputBudget.ts'
import type { SandboxTerminal, TerminalRequest } from '../sandboxRuntime.ts'
import type { AgentConnection } from './agentConnection.ts'
import { findContainerForeground } from './containerProcesses.ts'

/** Grace period for a program to save its work after a hang-up, in milliseconds. */
const hangUpMs = 3_000
const killTimeoutMs = 5_000
const terminalEnvironment = ['TERM=xterm-256color', 'COLORTERM=truecolor']

/** Opens a terminal. Resolves when the command runs. */
export async function openContainerTerminal(
  agent: Pick<AgentConnection, 'open'>,
  environment: readonly string[],
  request: TerminalRequest,
): Promise<SandboxTerminal> {
  let deliver: (bytes: Buffer) => void = () => {}
  const channel = agent.open({
    mode: `terminal ${request.cols} ${request.rows}`,
    fields: toCommandFields(request, [...environment, ...terminalEnvironment]),
    onOutput: (bytes) => deliver(bytes),
  })
  channel.pause()
  const leader = await channel.started
  if (leader === undefined) {
    channel.resume()
    throw createStartError(await channel.result, request.cwd)
  }
  const budget = createInputBudget()
  const write = (bytes: Uint8Array, onWritten = (): void => {}): void => {
    const release = budget.reserve(bytes.length)
    // Copied, because the caller's bytes may be a small part of a large message.
    channel.type(new Uint8Array(bytes), () => {
      release()
      onWritten()
    })
  }
  let over = false
  let timers: NodeJS.Timeout[] | undefined
  const ended = channel.result.then((result) => {
    over = true
    for (const timer of timers ?? []) clearTimeout(timer)
    return result.kind === 'ended' ? parseExit(result.status) : { exitCode: null, signal: null }
  })

  return {
    onOutput(listener) {
      deliver = listener
      channel.resume()
    },
    write,
    answer(bytes) {
      if (budget.isEmpty) write(bytes)
    },
    resize: (cols, rows) => channel.resize(cols, rows),
    foreground: async () => (over ? undefined : findContainerForeground(agent, leader)),
    pause: () => channel.pause(),
    resume: () => channel.resume(),
    close() {
      if (timers || over) return
      deliver = () => {}
      channel.resume()
      channel.hangUp()
      timers = [
        setTimeout(() => channel.killSession(), hangUpMs),
        setTimeout(() => {
          channel.drop()
          channel.bury({ kind: 'lost', detail: '' })
        }, hangUpMs + killTimeoutMs),
      ]
    },
    ended,
  }
}

function createStartError(result: OperationResult, cwd: string | undefined): AppError {
  if (result.kind === 'ended') return new AppError('terminal/failed', 'The program exited during startup.')
  const error = createNotStartedError(result, cwd)
  if (error.code !== 'exec/failed') return error
  return new AppError('terminal/failed', error.message, { cause: error })
}
