import type { Log } from '#platform/logging/log.ts'
import { AppError } from '#shared/appError.ts'
import type { RunningSandboxInstance } from '#shared/contract/hostIpc.ts'
import type { SandboxId } from '#shared/ids.ts'
import type { SandboxInstance } from '../runtimes/sandboxRuntime.ts'
import { createOperationQueue } from './operationQueue.ts'
import { withDeadline } from './withDeadline.ts'

/**
 * The running sandboxes of all runtimes, and the operations that change them. Decides alone which operation is possible:
 * two starts of a sandbox would share its files and limits.
 */
export type SandboxLifecycle = {
  list(): RunningSandboxInstance[]
  /** @returns the sandbox if it runs and no operation is in progress */
  findIdle(id: SandboxId): RunningSandboxInstance | undefined
  /** @throws AppError `sandbox/not-running`, also while the sandbox is starting or stopping */
  get(id: SandboxId): SandboxInstance
  /**
   * Starts a sandbox immediately, or throws. It does not run before `start` resolves; if that rejects, the instance that
   * `launch` resolves to later counts as starting until it has ended.
   * @throws AppError `sandbox/busy`
   */
  start(
    id: SandboxId,
    runtime: string,
    start: (run: StartRun) => Promise<SandboxInstance>,
  ): Promise<RunningSandboxInstance>
  /**
   * Runs an operation on the files immediately, or throws. Passes the instance if the sandbox runs in this runtime.
   * @throws AppError `sandbox/busy`
   */
  copyFiles<T>(
    id: SandboxId,
    runtime: string,
    operation: (signal: AbortSignal, running: SandboxInstance | undefined) => Promise<T>,
  ): Promise<T>
  /**
   * Runs an operation on the files of a stopped sandbox immediately, or throws.
   * @throws AppError `sandbox/busy`, also while the sandbox runs
   */
  replaceFiles<T>(id: SandboxId, operation: (signal: AbortSignal) => Promise<T>): Promise<T>
  /** Runs an operation after all pending ones. */
  queue(id: SandboxId, operation: () => Promise<void>): Promise<void>
  /** Stops the sandbox after all pending operations. Succeeds if it does not run. @throws AppError `sandbox/stop-failed` */
  stop(id: SandboxId): Promise<void>
  /** Aborts the pending operations, stops the sandbox, permitting the loss of its files, and erases it. */
  erase(id: SandboxId, erase: () => Promise<void>): Promise<void>
}

export type StartRun = {
  /** Fires when the sandbox is deleted. */
  signal: AbortSignal
  /** Reserves the sandbox until the start has failed or the instance has ended. @throws AppError `sandbox/busy` */
  launch: (open: () => Promise<SandboxInstance>) => Promise<SandboxInstance>
}

export type LifecycleEvents = {
  /** Called when a stop begins (true) or fails (false). An exit in between is expected. */
  onStopping: (id: SandboxId, stopping: boolean) => void
  /** Called when a sandbox stops running for any reason. The transition completes when the returned promise settles. */
  onStopped: (id: SandboxId) => Promise<void>
  /** Called when a sandbox stops unexpectedly. */
  onEnded: (id: SandboxId, reason: string) => void
  onCount: (running: number) => void
}

type Running = { state: 'running' | 'stopping'; runtime: string; instance: SandboxInstance }
/** `instance`: an instance that became ready after its start was aborted. */
type Starting = { state: 'starting'; runtime: string; instance?: SandboxInstance }

export function createSandboxLifecycle(
  events: LifecycleEvents,
  { stopMs, log }: { stopMs: number; log: Log },
): SandboxLifecycle {
  const entries = new Map<SandboxId, Starting | Running>()
  const operations = createOperationQueue()

  const listRunning = (): Running[] => [...entries.values()].filter((entry) => entry.state !== 'starting')

  const assertNotRunning = (id: SandboxId): void => {
    const entry = entries.get(id)
    if (entry?.state === 'starting') throw new AppError('sandbox/busy', `Sandbox ${id} is already running.`)
    if (entry) throw new AppError('sandbox/busy', 'This sandbox is running.')
  }
  const runExclusive = async <T>(id: SandboxId, operation: (signal: AbortSignal) => Promise<T>): Promise<T> => {
    if (operations.isBusy(id)) throw new AppError('sandbox/busy', 'Another change of this sandbox is in progress.')
    return operations.run(id, operation)
  }

  const launch = async (
    id: SandboxId,
    runtime: string,
    open: () => Promise<SandboxInstance>,
  ): Promise<SandboxInstance> => {
    assertNotRunning(id)
    const entry: Starting = { state: 'starting', runtime }
    entries.set(id, entry)
    const release = (): void => {
      if (entries.get(id) === entry) entries.delete(id)
    }
    try {
      entry.instance = await open()
    } catch (error) {
      release()
      throw error
    }
    void entry.instance.ended.then(release)
    return entry.instance
  }

  const remove = (id: SandboxId): void => {
    if (entries.delete(id)) events.onCount(listRunning().length)
  }

  const add = (entry: Running): void => {
    const { id, ended } = entry.instance
    entries.set(id, entry)
    events.onCount(listRunning().length)
    void ended.then(async (reason) => {
      if (entries.get(id) !== entry) return
      remove(id)
      if (entry.state === 'stopping') return
      log.warn('sandbox exited', { id, reason })
      events.onEnded(id, reason)
      await events.onStopped(id).catch((error: unknown) => log.error('failed to end terminals', { id, error }))
    })
  }

  const stop = async (id: SandboxId, files?: 'discard'): Promise<void> => {
    const entry = entries.get(id)
    if (!entry || entry.state === 'starting') return
    entry.state = 'stopping'
    events.onStopping(id, true)
    try {
      await withDeadline({
        ms: stopMs,
        run: () => entry.instance.stop(files),
        late: () => new AppError('sandbox/stop-failed', `The sandbox did not stop within ${stopMs} ms.`),
      })
    } catch (error) {
      entry.state = 'running'
      events.onStopping(id, false)
      throw error
    }
    if (entries.get(id) === entry) remove(id)
    await events.onStopped(id)
  }

  return {
    list: () => listRunning().map(describe),
    findIdle(id) {
      const entry = entries.get(id)
      return entry && entry.state !== 'starting' && !operations.isBusy(id) ? describe(entry) : undefined
    },
    get(id) {
      const entry = entries.get(id)
      if (entry?.state === 'running') return entry.instance
      throw new AppError('sandbox/not-running', 'This sandbox is not running.')
    },
    start: (id, runtime, start) =>
      runExclusive(id, async (signal) => {
        const instance = await start({ signal, launch: (open) => launch(id, runtime, open) })
        const entry: Running = { state: 'running', runtime, instance }
        add(entry)
        return describe(entry)
      }),
    copyFiles: (id, runtime, operation) =>
      runExclusive(id, async (signal) => {
        const entry = entries.get(id)
        return operation(signal, entry?.runtime === runtime ? entry.instance : undefined)
      }),
    replaceFiles: (id, operation) =>
      runExclusive(id, async (signal) => {
        assertNotRunning(id)
        return operation(signal)
      }),
    queue: operations.run,
    stop: (id) => operations.run(id, () => stop(id)),
    erase: (id, erase) =>
      operations.preempt(id, new AppError('sandbox/not-found', 'This sandbox was deleted.'), async () => {
        await stop(id, 'discard')
        await erase()
      }),
  }
}

function describe({ instance, runtime }: Running): RunningSandboxInstance {
  const { id, startedAtMs, enforced } = instance
  return { id, startedAtMs, runtime, enforced }
}
