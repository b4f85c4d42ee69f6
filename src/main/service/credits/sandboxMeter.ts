import { createCoalescedRuns } from '#platform/concurrency/coalescedRuns.ts'
import type { Log } from '#platform/logging/log.ts'
import type { SandboxId } from '#shared/ids.ts'
import type { SandboxBilling, SandboxRun } from './sandboxBilling.ts'

export type SandboxMeter = {
  /**
   * Checks after a change whether the sandbox started or stopped running. Resolves once a run is metered, and does not
   * wait for charges. Never rejects.
   */
  look(id: SandboxId): Promise<void>
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
  findRun: (id: SandboxId) => Promise<SandboxRun | undefined>
  running: () => Promise<SandboxRun[]>
  stop: (id: SandboxId) => Promise<void>
  log: Log
}): SandboxMeter {
  const { billing, findRun, running, stop, log } = options
  const runs = new Map<SandboxId, SandboxRun>()
  const looks = createCoalescedRuns()

  const charge = async (run: SandboxRun): Promise<void> => {
    try {
      const isPaid = await billing.charge(run)
      if (isPaid || (await findRun(run.id))?.startedAtMs !== run.startedAtMs) return
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
  const compare = async (id: SandboxId): Promise<void> => {
    const present = await findRun(id)
    const before = runs.get(id)
    if (before && before.startedAtMs !== present?.startedAtMs) void charge(before)
    if (present) runs.set(id, present)
    else runs.delete(id)
    if (present && before?.startedAtMs !== present.startedAtMs) await begin(present)
  }

  const look = async (id: SandboxId): Promise<void> => {
    if (!billing.isCharged) return
    await looks
      .run(id, () => compare(id))
      .catch((error: unknown) => log.error('failed to look at a sandbox', { sandboxId: id, error }))
  }

  const chargeAll = async (): Promise<void> => {
    for (const { id } of await running()) {
      await looks.run(id, async () => {
        const run = await findRun(id)
        if (!run) return
        const before = runs.get(id)
        if (before && before.startedAtMs !== run.startedAtMs) void charge(before)
        runs.set(id, run)
        void charge(run)
      })
    }
  }
  const lookAtAll = (): void => {
    if (!billing.isCharged) return
    chargeAll().catch((error: unknown) => log.error('failed to charge sandboxes', { error }))
  }

  const timer = setInterval(lookAtAll, everyMs)
  timer.unref()
  return { look, lookAtAll, close: () => clearInterval(timer) }
}
