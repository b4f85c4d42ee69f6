import type { Log } from '#platform/logging/log.ts'
import { AppError } from '#shared/appError.ts'
import type { RunningSandboxInstance, SandboxSpec, StoredSandbox } from '#shared/contract/hostIpc.ts'
import type { SandboxId } from '#shared/ids.ts'
import type { SandboxInstance, SandboxRuntime, SnapshotRef } from '../runtimes/sandboxRuntime.ts'
import { createCpuSampler, type ProcessSamples, type UsageSample } from './cpuSampler.ts'
import type { SandboxLabels } from './sandboxLabels.ts'
import { createSandboxLifecycle, type LifecycleEvents, type StartRun } from './sandboxLifecycle.ts'
import { withDeadline } from './withDeadline.ts'

/** Running sandboxes of all runtimes. At most one operation changes a sandbox at a time. */
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
  /** Takes precedence over all other operations. An operation in progress is aborted. */
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

type SandboxesOptions = LifecycleEvents & {
  runtimes: readonly SandboxRuntime[]
  labels: Pick<SandboxLabels, 'find' | 'remove'>
  /** Called before the files of a sandbox are deleted. */
  onDeleted: (id: SandboxId) => Promise<void>
  deadlines?: { startMs: number; stopMs: number; snapshotMs: number }
  log: Log
}

type Launch = {
  way: 'create' | 'start'
  /** Copying the files of a snapshot may take a long time. */
  ms: number
  open: (runtime: SandboxRuntime, signal: AbortSignal) => Promise<SandboxInstance>
}

export function createSandboxes(options: SandboxesOptions): Sandboxes {
  const { runtimes, log, deadlines = { startMs: 30_000, stopMs: 30_000, snapshotMs: 600_000 } } = options
  const lifecycle = createSandboxLifecycle(options, { stopMs: deadlines.stopMs, log })
  const sampler = createCpuSampler()
  let closing = false

  const findRuntime = (name: string): SandboxRuntime => {
    const runtime = runtimes.find((it) => it.name === name)
    if (!runtime) throw new AppError('runtime/unknown', `Unknown runtime ${JSON.stringify(name)}.`)
    return runtime
  }

  const launch = async (spec: SandboxSpec, { way, ms, open }: Launch): Promise<RunningSandboxInstance> => {
    const running = lifecycle.findIdle(spec.id)
    if (running) return running
    const runtime = findRuntime(spec.runtime)
    return lifecycle.start(spec.id, runtime.name, async (start: StartRun) => {
      if (closing) throw new AppError('host/unavailable', 'The sandbox host is shutting down.')
      return withDeadline({
        ms,
        signal: start.signal,
        run: (signal) => start.launch(() => open(runtime, signal)),
        late: () => new AppError('sandbox/start-failed', `The sandbox did not start within ${ms} ms.`),
        // Discards a sandbox that became ready after its start was aborted.
        discard: (late) => discard(runtime, late, way),
      })
    })
  }

  const withSnapshotDeadline = <T>(
    { snapshotId }: SnapshotRef,
    signal: AbortSignal,
    run: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> => {
    const late = () =>
      new AppError('snapshot/failed', `The snapshot ${snapshotId} timed out after ${deadlines.snapshotMs} ms.`)
    return withDeadline({ ms: deadlines.snapshotMs, signal, run, late })
  }

  const discard = async (
    runtime: SandboxRuntime,
    instance: SandboxInstance,
    way: 'create' | 'start',
  ): Promise<void> => {
    try {
      await instance.stop()
      if (way === 'create') await runtime.remove(instance.id)
    } catch (error) {
      log.error('failed to end a sandbox that started after its timeout', { id: instance.id, error })
    }
  }

  const erase = async (id: SandboxId): Promise<void> => {
    await options.onDeleted(id)
    for (const runtime of runtimes) await runtime.remove(id)
    await options.labels.remove(id)
  }

  return {
    list: lifecycle.list,
    get: lifecycle.get,
    usage: async (id) => sampler.sampleUsage(lifecycle.get(id)),
    processes: async (id) => sampler.sampleProcesses(lifecycle.get(id)),
    create: (spec, from) =>
      launch(spec, {
        way: 'create',
        ms: from ? deadlines.snapshotMs : deadlines.startMs,
        open: (runtime, signal) => runtime.create(spec, signal, from),
      }),
    start: (spec) =>
      launch(spec, {
        way: 'start',
        ms: deadlines.startMs,
        open: (runtime, signal) => runtime.start(spec, signal),
      }),
    snapshot: (name, ref) =>
      lifecycle.copyFiles(ref.sandboxId, name, (signal, running) =>
        withSnapshotDeadline(ref, signal, (ending) => findRuntime(name).snapshot(ref, ending, running)),
      ),
    restore: (name, ref) =>
      lifecycle.replaceFiles(ref.sandboxId, (signal) =>
        withSnapshotDeadline(ref, signal, (ending) => findRuntime(name).restore(ref, ending)),
      ),
    removeSnapshot: (name, ref) => lifecycle.queue(ref.sandboxId, () => findRuntime(name).removeSnapshot(ref)),
    stop: lifecycle.stop,
    delete: (id) => lifecycle.erase(id, () => erase(id)),
    listStored: () => listStored(runtimes),
    describeStored: () => describeStored(options),
    async close() {
      closing = true
      const stops = lifecycle.list().map(({ id }) => lifecycle.stop(id))
      const failed = (await Promise.allSettled(stops)).filter((it) => it.status === 'rejected')
      for (const { reason } of failed) log.error('failed to stop a sandbox', { error: reason })
    },
  }
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
