import type { Log } from '#platform/logging/log.ts'
import { type LedgerStore, maxHolds } from './ledgerStore.ts'

const everyMs = 10_000

/** Releases holds that were not settled in time, periodically. */
export function sweepExpiredHolds({ ledger, log }: { ledger: LedgerStore; log: Log }): { close(): void } {
  const sweep = async (): Promise<void> => {
    try {
      const expired = await expireHolds(ledger)
      // Runs in batches so that requests are served in between, and deletes at least as fast as holds are created.
      while (await ledger.removeEndedHolds());
      if (expired > 0) log.error('released unsettled holds that expired', { holds: expired })
    } catch (error) {
      if (!ledger.hasEnded) log.error('failed to release expired holds', { error })
    }
  }
  const timer = setInterval(() => void sweep(), everyMs)
  timer.unref()
  return { close: () => clearInterval(timer) }
}

async function expireHolds(ledger: LedgerStore): Promise<number> {
  let total = 0
  for (;;) {
    const expired = await ledger.change({ holds: 'expired' }, (it) => it.expire())
    total += expired
    if (expired < maxHolds) return total
  }
}

/** Charges every open hold of an ended process in full. @returns their number */
export async function recoverHolds(ledger: LedgerStore): Promise<number> {
  let total = 0
  for (;;) {
    const recovered = await ledger.change({ holds: 'open' }, (it) => it.recover(), { isDurable: true })
    total += recovered
    if (recovered < maxHolds) return total
  }
}
