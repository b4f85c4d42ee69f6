import type { Log } from '#platform/logging/log.ts'
import type { Clock } from '#platform/time/clock.ts'
import type { SandboxId } from '#shared/ids.ts'
import type { HostCall } from '../host/hostCalls.ts'
import type { SandboxRegistry } from '../sandboxes/sandboxRegistry.ts'
import type { SandboxRecord } from '../sandboxes/sandboxRepository.ts'
import type { SandboxUse } from './sandboxUse.ts'

type Options = {
  /** Lists all sandboxes. */
  listAll: () => Promise<SandboxRecord[]>
  use: Pick<SandboxUse, 'lastAtMs' | 'recordUse' | 'keepOnly'>
  sandboxes: Pick<SandboxRegistry, 'stopIdle'>
  call: HostCall
  everyMs: number
  runningMs: Clock['runningMs']
  log: Log
}

const minuteMs = 60_000

/**
 * Stops running sandboxes after their idle time. A running terminal counts as use, whatever it shows. The idle time
 * restarts with the service, because earlier use is unknown.
 */
export function createIdlePolicy({ listAll, use, sandboxes, call, everyMs, runningMs, log }: Options): {
  start(): void
  close(): void
} {
  /** Running time at which this process first saw each run. Wall-clock time does not measure use. */
  const lastUse = new Map<SandboxId, { startedAtMs: number; atMs: number }>()
  const busy = new Set<SandboxId>()

  const getLastUseMs = (id: SandboxId, startedAtMs: number, seenAtMs = runningMs()): number => {
    const use = lastUse.get(id)
    if (use?.startedAtMs === startedAtMs) return use.atMs
    lastUse.set(id, { startedAtMs, atMs: seenAtMs })
    return seenAtMs
  }
  const isIdle = ({ status, idleMinutes, startedAtMs, id }: SandboxRecord): boolean => {
    if (status !== 'running' || startedAtMs === null) return false
    const since = Math.max(getLastUseMs(id, startedAtMs), use.lastAtMs(id) ?? 0)
    if (idleMinutes === null) return false
    return runningMs() - since >= idleMinutes * minuteMs
  }

  const hasTerminal = async (sandboxId: SandboxId): Promise<boolean> => {
    const { result } = await call('terminal.list', { sandboxId })
    return result.terminals.some(({ state }) => state === 'running')
  }

  /** Never rejects. Runs concurrently, so that a sandbox that does not stop delays no other. */
  const stop = async (id: SandboxId): Promise<void> => {
    busy.add(id)
    try {
      if (await hasTerminal(id)) return use.recordUse(id)
      await sandboxes.stopIdle(id, isIdle)
    } catch (error) {
      log.warn('failed to stop an idle sandbox', { sandboxId: id, error })
    } finally {
      busy.delete(id)
    }
  }

  const look = async (): Promise<void> => {
    const present = await listAll()
    const ids = new Set(present.map(({ id }) => id))
    use.keepOnly(ids)
    for (const id of lastUse.keys()) if (!ids.has(id)) lastUse.delete(id)
    const idle = present.filter((record) => isIdle(record) && !busy.has(record.id))
    await Promise.all(idle.map(({ id }) => stop(id)))
  }

  /** Begins the idle time of running sandboxes. */
  const beginIdleTimes = async (): Promise<void> => {
    const seenAtMs = runningMs()
    for (const { id, startedAtMs } of await listAll()) {
      if (startedAtMs !== null) getLastUseMs(id, startedAtMs, seenAtMs)
    }
  }

  let timer: NodeJS.Timeout | undefined
  return {
    start() {
      beginIdleTimes().catch((error: unknown) => log.warn('failed to begin idle times', { error }))
      timer ??= setInterval(() => {
        look().catch((error: unknown) => log.warn('failed to check for idle sandboxes', { error }))
      }, everyMs)
    },
    close: () => clearInterval(timer),
  }
}
