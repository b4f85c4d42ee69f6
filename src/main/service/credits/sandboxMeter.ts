import type { Log } from '#platform/log.ts'
import type { SandboxId } from '#shared/ids.ts'
import type { SandboxBilling, SandboxRun } from './sandboxBilling.ts'

export type SandboxMeter = {
  /** Something changed: it may have begun or ended to run. */
  look(id: SandboxId): void
  /** After the host told what runs. What ended while the service was away is not charged for that time. */
  lookAtAll(): void
  close(): void
}

const everyMs = 60_000

/** Charges what runs, each minute and at its end, and stops what cannot be paid. Where nothing is charged it does nothing. */
export function sandboxMeter(options: {
  billing: SandboxBilling
  /** Undefined unless it runs. */
  runOf: (id: SandboxId) => SandboxRun | undefined
  running: () => SandboxRun[]
  stop: (id: SandboxId) => Promise<void>
  log: Log
}): SandboxMeter {
  const { billing, runOf, running, stop, log } = options
  const known = new Map<SandboxId, SandboxRun>()

  const charge = async (run: SandboxRun): Promise<void> => {
    try {
      const isPaid = await billing.charge(run)
      if (isPaid || runOf(run.id)?.startedAtMs !== run.startedAtMs) return
      log.info('a sandbox is stopped: its account is out of credits', { sandboxId: run.id })
      await stop(run.id)
    } catch (failure) {
      log.error('a sandbox could not be charged', { sandboxId: run.id, failure })
    }
  }
  const begin = async (run: SandboxRun): Promise<void> => {
    try {
      await billing.begin(run)
    } catch (failure) {
      log.error('the run of a sandbox could not be metered', { sandboxId: run.id, failure })
    }
  }
  const look = (id: SandboxId): void => {
    if (!billing.isCharged) return
    const before = known.get(id)
    const present = runOf(id)
    if (before && before.startedAtMs !== present?.startedAtMs) void charge(before)
    if (present && before?.startedAtMs !== present.startedAtMs) void begin(present)
    if (present) known.set(id, present)
    else known.delete(id)
  }

  const lookAtAll = (): void => {
    if (!billing.isCharged) return
    for (const run of running()) {
      known.set(run.id, run)
      void charge(run)
    }
  }

  const timer = setInterval(lookAtAll, everyMs)
  timer.unref()
  return { look, lookAtAll, close: () => clearInterval(timer) }
}
