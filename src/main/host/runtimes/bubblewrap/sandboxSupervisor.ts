import { closeSync, openSync } from 'node:fs'
import type { Socket } from 'node:net'
import { z } from 'zod'
import { AppError } from '#shared/appError.ts'
import type { BaseEntry } from './baseFiles.ts'
import { getSharedBytes } from './bwrapArguments.ts'
import type { ConnectArguments } from './network/connectNetwork.ts'
import type { SandboxView } from './sandboxView.ts'
import { readLines, type Spawner } from './spawner.ts'
import { type StartRequest, toEntryFields } from './startRequest.ts'

/** A sandbox with complete and sealed namespaces and mounts, and its supervisor process. See `supervisor.pl`. */
export type SandboxSupervisor = {
  pid: number
  /** PID of bwrap, which waits for the sandbox. */
  monitor: number
  /** PID 1 of the sandbox as a host PID, used only to identify processes. Its current state is not trusted. */
  init: number
  /** PID namespace of the sandbox, in the notation of links in /proc. */
  namespace: string
  /** Paths of files opened before any code of the sandbox ran. */
  files: { terminals: string; disk: string | undefined }
  /** Resolves with a sentence when PID 1 and therefore all processes inside have ended. */
  ended: Promise<string>
  end(): void
  /** Reconfigures the sandbox. Allowed only until a command has run in it. */
  become(instance: BecomeRequest): Promise<void>
  /** @throws Error with the reason */
  connect(network: ConnectArguments): Promise<void>
  /** Resolves if the network ends before the sandbox does. */
  networkClosed: Promise<void>
}

export type BecomeRequest = {
  hostname: string
  memoryMb: number
  /** Assigned CPUs of the host. Empty for all. */
  processors: readonly number[]
  view: SandboxView
  /** Entries created in its `/`. */
  entries: readonly BaseEntry[]
}

const Reply = z.union([
  z.object({
    started: z.object({
      supervisor: z.int(),
      monitor: z.int(),
      init: z.int(),
      namespace: z.string(),
      files: z.object({ terminals: z.int(), disk: z.int().optional() }),
    }),
  }),
  z.object({ failed: z.string() }),
  z.object({ ended: z.int() }),
  z.object({ answer: z.int(), failed: z.string().optional() }),
  z.object({ network: z.literal('lost') }),
])
type Started = Extract<z.infer<typeof Reply>, { started: unknown }>['started']

const readyMs = 20_000
const responseTimeoutMs = 20_000
/** O_PATH: opens the target of a path without read permission. */
const pathOnly = 0o10000000

export async function startSupervisor(
  spawner: Spawner,
  request: StartRequest,
  signal: AbortSignal,
): Promise<SandboxSupervisor> {
  signal.throwIfAborted()
  const control = await spawner.ask({ do: 'start', ...request })
  const conversation = converse(control)
  const late = setTimeout(() => control.destroy(), readyMs)
  const abort = (): void => void control.destroy()
  signal.addEventListener('abort', abort, { once: true })
  try {
    const started = await conversation.started
    return createSupervisor(control, { started, conversation })
  } catch (error) {
    control.destroy()
    signal.throwIfAborted()
    throw error
  } finally {
    clearTimeout(late)
    signal.removeEventListener('abort', abort)
  }
}

type Conversation = ReturnType<typeof converse>

function converse(control: Socket) {
  const started = Promise.withResolvers<Started>()
  const ended = Promise.withResolvers<string>()
  const networkClosed = Promise.withResolvers<void>()
  const waiting = new Map<number, PromiseWithResolvers<void>>()
  let count = 0
  started.promise.catch(() => {}) // the caller of the start handles the error

  readLines(control, (line) => {
    const reply = Reply.parse(line)
    if ('started' in reply) started.resolve(reply.started)
    else if ('ended' in reply) ended.resolve(describeStatus(reply.ended))
    else if ('network' in reply) networkClosed.resolve()
    else if ('answer' in reply) {
      const request = waiting.get(reply.answer)
      waiting.delete(reply.answer)
      if (reply.failed === undefined) request?.resolve()
      else request?.reject(new Error(reply.failed.trim()))
    } else started.reject(startFailed(reply.failed.trim()))
  })
  control.once('end', () => control.destroy())
  control.once('close', () => {
    started.reject(startFailed(''))
    ended.resolve('The sandbox supervisor exited.')
    for (const request of waiting.values()) request.reject(new Error('The sandbox has exited.'))
  })
  return {
    started: started.promise,
    ended: ended.promise,
    networkClosed: networkClosed.promise,
    async ask(request: Readonly<Record<string, unknown>>): Promise<void> {
      if (control.destroyed) throw new Error('The sandbox has exited.')
      const id = count++
      const requested = Promise.withResolvers<void>()
      waiting.set(id, requested)
      control.write(`${JSON.stringify({ ...request, id })}\n`)
      const late = setTimeout(
        () => requested.reject(new Error('The sandbox did not respond in time.')),
        responseTimeoutMs,
      )
      try {
        await requested.promise
      } finally {
        clearTimeout(late)
        waiting.delete(id)
      }
    },
  }
}

function createSupervisor(
  control: Socket,
  { started, conversation }: { started: Started; conversation: Conversation },
): SandboxSupervisor {
  const { init, monitor, namespace } = started
  const opened: number[] = []
  const pinPath = (number: number): string => {
    const file = openSync(`/proc/${started.supervisor}/fd/${number}`, pathOnly)
    opened.push(file)
    return `/proc/self/fd/${file}`
  }
  const close = (): void => {
    for (const file of opened.splice(0)) closeSync(file)
  }
  try {
    const { terminals, disk } = started.files
    const files = { terminals: pinPath(terminals), disk: disk === undefined ? undefined : pinPath(disk) }
    const ended = conversation.ended.then((sentence) => {
      control.destroy()
      close()
      return sentence
    })
    return {
      pid: started.supervisor,
      monitor,
      init,
      namespace,
      files,
      ended,
      end: () => void conversation.ask({ do: 'end' }).catch(() => control.destroy()),
      become: ({ memoryMb, entries, ...instance }) =>
        conversation.ask({
          do: 'become',
          ...instance,
          shared: getSharedBytes(memoryMb),
          entries: entries.map(toEntryFields),
        }),
      connect: (network) => conversation.ask({ do: 'network', network }),
      networkClosed: conversation.networkClosed,
    }
  } catch (error) {
    close()
    throw startFailed('', error)
  }
}

/** @param status exit status of bwrap, as returned by wait(2) */
function describeStatus(status: number): string {
  const signal = status & 0x7f
  if (signal !== 0) return `Ended by signal ${signal}.`
  return status >> 8 === 137 ? 'The first process of the sandbox was killed.' : 'The sandbox exited.'
}

function startFailed(reason: string, cause?: unknown): AppError {
  return new AppError('sandbox/start-failed', `The sandbox did not start${reason && `: ${reason}`}.`, { cause })
}
