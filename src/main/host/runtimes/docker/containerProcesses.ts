import { AppError } from '#shared/appError.ts'
import { maxProcesses, type ProcessSignal } from '#shared/contract/processes.ts'
import { sanitizeLine } from '#shared/untrustedText.ts'
import { parseListeningPorts } from '../inside/portsIn.ts'
import type { SandboxProcess } from '../sandboxRuntime.ts'
import type { AgentConnection } from './agentConnection.ts'

type Agent = Pick<AgentConnection, 'open'>

const commandCharacters = 1024
const responseTimeoutMs = 20_000
/** Exceeds the process table of a sandbox at its process limit. */
const maxBytes = 32 * 1024 * 1024

export async function listContainerProcesses(agent: Agent): Promise<SandboxProcess[]> {
  const [head = '', ...lines] = (await requestAgent(agent, 'processes')).toString('utf8').split('\n')
  const [ticks, pageBytes, bootSeconds] = head.split('\0').map(Number)
  return lines.slice(0, maxProcesses).flatMap((line) => {
    const [pid, ppid, user = '', cpuTicks, pages, startTicks, command] = line.split('\0')
    if (command === undefined || !ticks || !pageBytes || bootSeconds === undefined) return []
    return {
      pid: Number(pid),
      ppid: Number(ppid),
      user,
      cpuMs: (Number(cpuTicks) * 1000) / ticks,
      memoryBytes: Number(pages) * pageBytes,
      command: command.trim().slice(0, commandCharacters),
      startedAtMs: Math.round((bootSeconds + Number(startTicks) / ticks) * 1000),
    }
  })
}

/** @throws AppError `process/not-found` */
export async function signalContainerProcess(
  agent: Agent,
  { pid, signal }: { pid: number; signal: ProcessSignal },
): Promise<void> {
  try {
    await requestAgent(agent, 'signal', [String(pid), signal.slice('SIG'.length)])
  } catch (error) {
    throw createNoProcessError(pid, error)
  }
}

function createNoProcessError(pid: number, cause: unknown): AppError {
  const message = `This sandbox has no process ${pid} that can receive a signal.`
  return new AppError('process/not-found', message, { cause })
}

export async function listContainerPorts(agent: Agent): Promise<number[]> {
  return parseListeningPorts((await requestAgent(agent, 'ports')).toString('latin1').split('\0'))
}

/** Exceeds the 15 bytes that the kernel stores. */
const maxProgramNameLength = 32

/**
 * Counterpart of `findForegroundProgram` in bubblewrap.
 * @param leader PID of the terminal's process inside the container
 */
export async function findContainerForeground(agent: Agent, leader: number): Promise<string | undefined> {
  const name = (await requestAgent(agent, 'foreground', [String(leader)])).toString('utf8')
  return sanitizeLine(name.trim(), maxProgramNameLength) || undefined
}

async function requestAgent(agent: Agent, mode: string, fields: readonly string[] = []): Promise<Buffer> {
  const pieces: Buffer[] = []
  let size = 0
  const channel = agent.open({
    mode,
    fields,
    onOutput(bytes) {
      size += bytes.length
      if (size <= maxBytes) pieces.push(bytes)
      else channel.drop()
    },
  })
  const late = setTimeout(() => {
    channel.drop()
    channel.bury({ kind: 'lost', detail: 'The request timed out.' })
  }, responseTimeoutMs)
  const result = await channel.result
  clearTimeout(late)
  if (result.kind === 'ended' && result.status === 0) return Buffer.concat(pieces)
  throw new AppError('exec/failed', `The sandbox did not report its ${mode}.`)
}
