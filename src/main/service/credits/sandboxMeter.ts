import type { Log } from '#platform/logging/log.ts'
import type { SandboxId } from '#shared/ids.ts'
import type { SandboxBilling, SandboxRun } from './sandboxBilling.ts'

export type SandboxMeter = {
  /** Checks after a change whether the sandbox started or stopped running. */
  look(id: SandboxId): void
  /**
   * Checks all sandboxes. Called after the host has reported the running ones. Runs that ended while the service was
   * down are not charged for that time.
   */
  lookAtAll(): void
  close(): void
}

const everyMs = 60_000

/**
 * Charges running sandboxes every minute and at their end, and stops those that the account cannot pay. Does nothing if
 * sandboxes are free.
 */
export function createSandboxMeter(options: {
  billing: SandboxBilling
  /** @returns undefined unless the sandbox runs */
  findRun: (id: SandboxId) => SandboxRun | undefined
  running: () => SandboxRun[]
  stop: (id: SandboxId) => Promise<void>
  log: Log
}): SandboxMeter {
  const { billing, findRun, running, stop, log } = options
  const runs = new Map<SandboxId, SandboxRun>()

  const charge = async (run: SandboxRun): Promise<void> => {
    try {
      const isPaid = await billing.charge(run)
      if (isPaid || findRun(run.id)?.startedAtMs !== run.startedAtMs) return
      log.info('stopping a sandbox: account out of credits', { sandboxId: run.id })
      await stop(run.id)
    } catch (error) {
      log.error('failed to charge a sandbox', { sandboxId: run.id, error })
    }
  }
  const begin = async (run: SandboxRun): Promise<void> => {
    try {
      await billing.begin(run)
    } catch (error) {
      log.error('failed to meter a sandbox', { sandboxId: run.id, error })
    }
  }
  const look = (id: SandboxId): void => {
    if (!billing.isCharged) return
    const before = runs.get(id)
    const present = findRun(id)
    if (before && before.startedAtMs !== present?.startedAtMs) void charge(before)
    if (present && before?.startedAtMs !== present.startedAtMs) void begin(present)
    if (present) runs.set(id, present)
    else runs.delete(id)
  }

  const lookAtAll = (): void => {
    if (!billing.isCharged) return
    for (const run of running()) {
      runs.set(run.id, run)
      void charge(run)
    }
  }

  const timer = setInterval(lookAtAll, everyMs)
  timer.unref()
  return { look, lookAtAll, close: () => clearInterval(timer) }
}
