import type { IpcAnswer, IpcCall } from '#platform/ipc/ipcServer.ts'
import { AppError } from '#shared/appError.ts'
import {
  type HostMethod,
  type HostParams,
  type HostResult,
  hostIpcVersion,
  hostMethods,
} from '#shared/contract/hostIpc.ts'
import { terminalLimits } from '#shared/contract/terminals.ts'
import type { Images } from '../images/images.ts'
import type { SandboxRuntime } from '../runtimes/sandboxRuntime.ts'
import type { Sandboxes } from '../sandboxes/sandboxes.ts'
import type { SandboxLabels } from '../sandboxes/sandboxLabels.ts'
import type { WatchedCommands } from '../sandboxes/watchedCommands.ts'
import type { Terminals } from '../terminals/terminals.ts'
import { createFileHandlers } from './fileHandlers.ts'

type Reply<M extends HostMethod> = { result: HostResult<M>; body?: Uint8Array }
type Call<M extends HostMethod> = { params: HostParams<M>; body: Buffer; signal: AbortSignal }
type Handler<M extends HostMethod> = (call: Call<M>) => Promise<Reply<M>>
type Handlers = { readonly [M in HostMethod]: Handler<M> }

type HostDependencies = {
  machines: Sandboxes
  labels: Pick<SandboxLabels, 'save'>
  commands: WatchedCommands
  terminals: Terminals
  runtimes: readonly SandboxRuntime[]
  images: Images
  version: string
  pid: number
  shutDown: () => void
}

/** Creates the request handlers of the host, by method. Parameters are validated here and trusted afterwards. */
export function createHostHandlers(
  dependencies: HostDependencies,
): Record<string, (call: IpcCall) => Promise<IpcAnswer>> {
  const handlers: Handlers = {
    ...createProcessHandlers(dependencies),
    ...createSandboxHandlers(dependencies),
    ...createSnapshotHandlers(dependencies),
    ...createImageHandlers(dependencies),
    ...createFileHandlers(dependencies.machines),
    ...createTerminalHandlers(dependencies),
  }
  const parsing = <M extends HostMethod>(method: M) => {
    return async ({ params, body, signal }: IpcCall): Promise<IpcAnswer> => {
      const parsed = hostMethods[method].params.safeParse(params)
      if (!parsed.success) throw new AppError('request/invalid', `${method}: ${parsed.error.issues[0]?.message}`)
      // The schema of this method has just validated the parameters.
      return handlers[method]({ params: parsed.data as HostParams<M>, body, signal })
    }
  }
  return Object.fromEntries((Object.keys(hostMethods) as HostMethod[]).map((method) => [method, parsing(method)]))
}

type Calls<Prefix extends string> = Pick<Handlers, Extract<HostMethod, `${Prefix}.${string}`>>

function createProcessHandlers({
  runtimes,
  version,
  pid,
  shutDown,
}: HostDependencies): Pick<Handlers, 'describe' | 'ping' | 'shutdown'> {
  return {
    async describe() {
      const reports = await Promise.all(runtimes.map((runtime) => runtime.describe()))
      return { result: { ipcVersion: hostIpcVersion, version, pid, runtimes: reports } }
    },
    ping: async () => ({ result: {} }),
    async shutdown() {
      // Deferred so that the reply is sent first.
      setImmediate(shutDown)
      return { result: {} }
    },
  }
}

function createSandboxHandlers({ machines: sandboxes, labels, commands }: HostDependencies): Calls<'machine'> {
  return {
    'machine.list': async () => ({ result: { machines: sandboxes.list() } }),
    'machine.create': async ({ params: { from, ...spec } }) => ({ result: await sandboxes.create(spec, from) }),
    'machine.start': async ({ params }) => ({ result: await sandboxes.start(params) }),
    async 'machine.stop'({ params }) {
      await sandboxes.stop(params.sandboxId)
      return { result: {} }
    },
    async 'machine.delete'({ params }) {
      await sandboxes.delete(params.sandboxId)
      return { result: {} }
    },
    'machine.stored': async () => ({ result: { machines: await sandboxes.describeStored() } }),
    async 'machine.label'({ params }) {
      for (const label of params.labels) await labels.save(label)
      return { result: {} }
    },
    'machine.usage': async ({ params }) => ({ result: await sandboxes.usage(params.sandboxId) }),
    'machine.processes': async ({ params }) => ({
      result: { processes: await sandboxes.processes(params.sandboxId) },
    }),
    async 'machine.signal'({ params: { sandboxId, pid, signal } }) {
      await sandboxes.get(sandboxId).signal(pid, signal)
      return { result: {} }
    },
    'machine.listening': async ({ params }) => ({
      result: { ports: await sandboxes.get(params.sandboxId).listeningPorts() },
    }),
    async 'machine.exec'({ params: { sandboxId, watch, ...request }, signal }) {
      const sandbox = sandboxes.get(sandboxId)
      const watched = watch === undefined ? undefined : commands.begin(`${sandboxId} ${watch}`)
      try {
        const { stdout, stderr, ...outcome } = await sandbox.exec({ ...request, signal, onOutput: watched?.take })
        return { result: { ...outcome, stdoutBytes: stdout.length }, body: Buffer.concat([stdout, stderr]) }
      } finally {
        watched?.end()
      }
    },
    async 'machine.execOutput'({ params: { sandboxId, watch, ...options }, signal }) {
      const { bytes, ...result } = await commands.read(`${sandboxId} ${watch}`, { ...options, signal })
      return { result, body: bytes }
    },
  }
}

function createSnapshotHandlers({ machines: sandboxes }: HostDependencies): Calls<'snapshot'> {
  return {
    async 'snapshot.create'({ params: { runtime, ...snapshot } }) {
      return { result: { sizeBytes: await sandboxes.snapshot(runtime, snapshot) } }
    },
    async 'snapshot.restore'({ params: { runtime, ...snapshot } }) {
      await sandboxes.restore(runtime, snapshot)
      return { result: {} }
    },
    async 'snapshot.delete'({ params: { runtime, ...snapshot } }) {
      await sandboxes.removeSnapshot(runtime, snapshot)
      return { result: {} }
    },
  }
}

function createImageHandlers({ images }: HostDependencies): Calls<'image'> {
  return {
    'image.list': async () => ({ result: { images: await images.list() } }),
    'image.add': async ({ params }) => ({ result: await images.add(params) }),
    async 'image.remove'({ params }) {
      await images.remove(params.name)
      return { result: {} }
    },
  }
}

function createTerminalHandlers({ machines: sandboxes, terminals }: HostDependencies): Calls<'terminal'> {
  return {
    async 'terminal.create'({ params }) {
      return { result: await terminals.create(sandboxes.get(params.sandboxId), params) }
    },
    'terminal.list': async ({ params }) => ({ result: { terminals: terminals.list(params.sandboxId) } }),
    async 'terminal.write'({ params, body }) {
      if (body.length > terminalLimits.maxInputBytes) {
        throw new AppError('request/too-large', `Input of ${body.length} bytes is too large for one message.`)
      }
      terminals.get(params.sandboxId, params.terminalId).write(body)
      return { result: {} }
    },
    async 'terminal.read'({ params: { sandboxId, terminalId, full, format } }) {
      const { bytes, ...result } = await terminals.get(sandboxId, terminalId).read({ full, format })
      return { result, body: bytes }
    },
    async 'terminal.readSince'({ params: { sandboxId, terminalId, ...request }, signal }) {
      const { bytes, ...result } = await terminals.get(sandboxId, terminalId).readSince({ ...request, signal })
      return { result, body: bytes }
    },
    async 'terminal.search'({ params: { sandboxIds, ...query }, signal }) {
      return { result: await terminals.search(sandboxIds, query, signal) }
    },
    async 'terminal.rename'({ params: { sandboxId, terminalId, name } }) {
      return { result: terminals.get(sandboxId, terminalId).rename(name) }
    },
    async 'terminal.resize'({ params: { sandboxId, terminalId, cols, rows } }) {
      terminals.get(sandboxId, terminalId).resize({ cols, rows })
      return { result: {} }
    },
    async 'terminal.close'({ params }) {
      await terminals.get(params.sandboxId, params.terminalId).end()
      return { result: {} }
    },
  }
}
