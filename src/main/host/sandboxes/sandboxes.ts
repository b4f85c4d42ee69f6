import type { Log } from '#platform/logging/log.ts'
import { AppError } from '#shared/appError.ts'
import type { RunningSandboxInstance, SandboxSpec, StoredSandbox } from '#shared/contract/hostIpc.ts'
import type { SandboxId } from '#shared/ids.ts'
import type { SandboxInstance, SandboxRuntime, SnapshotRef } from '../runtimes/sandboxRuntime.ts'
import { createCpuSampler, type ProcessSamples, type UsageSample } from './cpuSampler.ts'
import { createSandboxChanges } from './sandboxChanges.ts'
import type { SandboxLabels } from './sandboxLabels.ts'
import { withDeadline } from './withDeadline.ts'

/** Running sandboxes of all runtimes. At most one change of a sandbox runs at a time. */
export type Sandboxes = {
  list(): RunningSandboxInstance[]
  /** @throws AppError `sandbox/not-running` */
  get(id: SandboxId): SandboxInstance
  /** @throws AppError `sandbox/not-running` */
  usage(id: SandboxId): Promise<UsageSample>
  /** @throws AppError `sandbox/not-running` */
  processes(id: SandboxId): Promise<ProcessSamples>
  /**
   * Creates and starts a sandbox, from the files of snapshot `from` if provided. `create` and `start` return the
   * existing sandbox if it is already running.
   */
  create(spec: SandboxSpec, from?: SnapshotRef): Promise<RunningSandboxInstance>
  start(spec: SandboxSpec): Promise<RunningSandboxInstance>
  stop(id: SandboxId): Promise<void>
  /** Takes precedence over all other changes. A change in progress is aborted. */
  delete(id: SandboxId): Promise<void>
  /**
   * @param runtime runtime that stores the files of the sandbox
   * @returns the size on disk, in bytes
   */
  snapshot(runtime: string, snapshot: SnapshotRef): Promise<number>
  /** @throws AppError `sandbox/busy` while the sandbox runs */
  restore(runtime: string, snapshot: SnapshotRef): Promise<void>
  removeSnapshot(runtime: string, snapshot: SnapshotRef): Promise<void>
  /** Sandboxes with stored files, running or not. */
  listStored(): Promise<SandboxId[]>
  describeStored(): Promise<StoredSandbox[]>
  /** Stops all sandboxes. */
  close(): Promise<void>
}

type SandboxesOptions = {
  runtimes: readonly SandboxRuntime[]
  labels: Pick<SandboxLabels, 'find' | 'remove'>
  /** Called when a stop begins (true) or fails (false). An exit in between is expected. */
  onStopping: (id: SandboxId, stopping: boolean) => void
  /** Called when a sandbox stops running for any reason. The transition completes when the returned promise settles. */
  onStopped: (id: SandboxId) => Promise<void>
  /** Called when a sandbox stops unexpectedly. */
  onEnded: (id: SandboxId, reason: string) => void
  onCount: (running: number) => void
  /** Called before the files of a sandbox are deleted. */
  onDeleted: (id: SandboxId) => Promise<void>
  deadlines?: { startMs: number; stopMs: number; snapshotMs: number }
  log: Log
}

type Launch = {
  way: 'create' | 'start'
  /** Copying the files of a snapshot may take a long time. */
  ms: number
  begin: (runtime: SandboxRuntime, signal: AbortSignal) => Promise<SandboxInstance>
}
type Running = { machine: SandboxInstance; runtime: string; stopping: boolean }

export function createSandboxes(options: SandboxesOptions): Sandboxes {
  const { runtimes, log, deadlines = { startMs: 30_000, stopMs: 30_000, snapshotMs: 600_000 } } = options
  const running = createRunningSandboxes(options, deadlines.stopMs)
  const changes = createSandboxChanges()
  const sampler = createCpuSampler()
  let closing = false

  const runtimeNamed = (name: string): SandboxRuntime => {
    const runtime = runtimes.find((it) => it.name === name)
    if (!runtime) throw new AppError('runtime/unknown', `Unknown runtime ${JSON.stringify(name)}.`)
    return runtime
  }

  const launch = (spec: SandboxSpec, { way, ms, begin }: Launch): Promise<RunningSandboxInstance> => {
    const present = running.find(spec.id)
    if (present && !changes.underWay(spec.id)) return Promise.resolve(present)
    const runtime = runtimeNamed(spec.runtime)
    return changes.begin(spec.id, async (called) => {
      if (closing) throw new AppError('host/unavailable', 'The sandbox host is shutting down.')
      const instance = await withDeadline({
        ms,
        signal: called,
        run: (signal) => begin(runtime, signal),
        late: () => new AppError('sandbox/start-failed', `The sandbox did not start within ${ms} ms.`),
        // Discards a sandbox that became ready after its start was aborted.
        discard: (late) => discard(runtime, late, way),
      })
      return running.add(instance, runtime.name)
    })
  }

  const onFiles = <T>(
    { snapshotId }: SnapshotRef,
    signal: AbortSignal,
    run: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> => {
    const late = () =>
      new AppError('snapshot/failed', `The snapshot ${snapshotId} timed out after ${deadlines.snapshotMs} ms.`)
    return withDeadline({ ms: deadlines.snapshotMs, signal, run, late })
  }

  const discard = async (runtime: SandboxRuntime, machine: SandboxInstance, way: 'create' | 'start'): Promise<void> => {
    try {
      await machine.stop()
      if (way === 'create') await runtime.remove(machine.id)
    } catch (error) {
      log.error('failed to end a sandbox that started after its timeout', { id: machine.id, error })
    }
  }

  const erase = async (id: SandboxId): Promise<void> => {
    await running.stop(id, 'discard')
    await options.onDeleted(id)
    for (const runtime of runtimes) await runtime.remove(id)
    await options.labels.remove(id)
  }

  return {
    list: running.list,
    get: running.get,
    usage: async (id) => sampler.sampleUsage(running.get(id)),
    processes: async (id) => sampler.sampleProcesses(running.get(id)),
    create: async (spec, from) =>
      launch(spec, {
        way: 'create',
        ms: from ? deadlines.snapshotMs : deadlines.startMs,
        begin: (runtime, signal) => runtime.create(spec, signal, from),
      }),
    start: async (spec) =>
      launch(spec, {
        way: 'start',
        ms: deadlines.startMs,
        begin: (runtime, signal) => runtime.start(spec, signal),
      }),
    snapshot: (runtime, ref) =>
      changes.begin(ref.sandboxId, (signal) =>
        onFiles(ref, signal, (ending) => runtimeNamed(runtime).snapshot(ref, ending)),
      ),
    restore: (runtime, ref) =>
      changes.begin(ref.sandboxId, async (signal) => {
        if (running.find(ref.sandboxId)) throw new AppError('sandbox/busy', 'This sandbox is running.')
        await onFiles(ref, signal, (ending) => runtimeNamed(runtime).restore(ref, ending))
      }),
    removeSnapshot: (runtime, ref) => changes.queue(ref.sandboxId, () => runtimeNamed(runtime).removeSnapshot(ref)),
    stop: (id) => changes.queue(id, () => running.stop(id)),
    delete: (id) => changes.overrule(id, () => erase(id)),
    listStored: () => listStored(runtimes),
    describeStored: () => describeStored(options),
    async close() {
      closing = true
      const stops = running.list().map(({ id }) => changes.queue(id, () => running.stop(id)))
      const failed = (await Promise.allSettled(stops)).filter((it) => it.status === 'rejected')
      for (const { reason } of failed) log.error('failed to stop a sandbox', { error: reason })
    },
  }
}

/** Sandboxes that are running or stopping. */
type RunningSandboxes = {
  list(): RunningSandboxInstance[]
  find(id: SandboxId): RunningSandboxInstance | undefined
  /** @throws AppError `sandbox/not-running`, also while the sandbox is stopping */
  get(id: SandboxId): SandboxInstance
  add(instance: SandboxInstance, runtime: string): RunningSandboxInstance
  /** Succeeds if the sandbox is not running. @throws AppError `sandbox/stop-failed` */
  stop(id: SandboxId, files?: 'discard'): Promise<void>
}

function createRunningSandboxes(options: SandboxesOptions, stopMs: number): RunningSandboxes {
  const { onCount, onEnded, onStopped, onStopping, log } = options
  const running = new Map<SandboxId, Running>()

  const forget = (id: SandboxId): void => {
    if (running.delete(id)) onCount(running.size)
  }

  const watch = (entry: Running): void => {
    const { id } = entry.machine
    void entry.machine.ended.then(async (reason) => {
      if (running.get(id) !== entry) return
      forget(id)
      if (entry.stopping) return
      log.warn('sandbox exited', { id, reason })
      onEnded(id, reason)
      await onStopped(id).catch((error: unknown) => log.error('failed to end terminals', { id, error }))
    })
  }

  return {
    list: () => [...running.values()].map(describe),
    find(id) {
      const entry = running.get(id)
      return entry && describe(entry)
    },
    get(id) {
      const entry = running.get(id)
      if (entry && !entry.stopping) return entry.machine
      throw new AppError('sandbox/not-running', 'This sandbox is not running.')
    },
    add(instance, runtime) {
      const entry = { machine: instance, runtime, stopping: false }
      running.set(instance.id, entry)
      onCount(running.size)
      watch(entry)
      return describe(entry)
    },
    async stop(id, files) {
      const entry = running.get(id)
      if (!entry) return
      entry.stopping = true
      onStopping(id, true)
      try {
        await withDeadline({
          ms: stopMs,
          run: () => entry.machine.stop(files),
          late: () => new AppError('sandbox/stop-failed', `The sandbox did not stop within ${stopMs} ms.`),
        })
      } catch (error) {
        entry.stopping = false
        onStopping(id, false)
        throw error
      }
      forget(id)
      await onStopped(id)
    },
  }
}

function describe({ machine: instance, runtime }: Running): RunningSandboxInstance {
  const { id, startedAtMs, enforced } = instance
  return { id, startedAtMs, runtime, enforced }
}

async function listStored(runtimes: readonly SandboxRuntime[]): Promise<SandboxId[]> {
  const lists = await Promise.all(runtimes.map((runtime) => runtime.listStored()))
  return [...new Set(lists.flat())]
}

async function describeStored({ runtimes, labels }: SandboxesOptions): Promise<StoredSandbox[]> {
  const sandboxes = await Promise.all(
    runtimes.map(async (runtime) => {
      const ids = await runtime.listStored()
      return Promise.all(
        ids.map(async (id) => ({
          id,
          runtime: runtime.name,
          label: (await labels.find(id)) ?? null,
          // An unavailable engine must not hide the sandboxes of the other runtimes.
          snapshots: await runtime.listSnapshots(id).catch(() => []),
        })),
      )
    }),
  )
  return sandboxes.flat()
}
