import type { Log } from '#platform/logging/log.ts'
import type { GroupCommit } from '#storage/sqlite/groupCommit.ts'
import type { CreditLedger } from './creditLedger.ts'

export type LedgerWrites = { ledger: CreditLedger; commits: GroupCommit }

const everyMs = 10_000

/** Releases holds that were not settled in time, periodically. */
export function sweepExpiredHolds({ ledger, commits, log }: LedgerWrites & { log: Log }): { close(): void } {
  const sweep = async (): Promise<void> => {
    try {
      const expired = await commits.commit(() => ledger.expire())
      // Runs in batches so that requests are served in between, and deletes at least as fast as holds are created.
      while (await commits.commit(() => ledger.forgetEnded()));
      if (expired > 0) log.error('released unsettled holds that expired', { holds: expired })
    } catch (error) {
      if (!commits.hasEnded) log.error('failed to release expired holds', { error })
    }
  }
  const timer = setInterval(() => void sweep(), everyMs)
  timer.unref()
  return { close: () => clearInterval(timer) }
}
