import { AppError } from '#shared/appError.ts'
import { type Store, StoreUnavailableError, type Transaction } from '#storage/store.ts'
import { getRetentionStart } from './creditHolds.ts'
import type { CreditLedger } from './creditLedger.ts'
import type { LedgerRepository } from './ledgerRepository.ts'
import {
  assertChangedRows,
  type LedgerKeys,
  type LedgerStatements,
  type LedgerStore,
  type LedgerWork,
} from './ledgerStore.ts'
import { createLedgerWorkingSet } from './ledgerWorkingSet.ts'
import { loadLedgerRows } from './loadLedgerRows.ts'
import { addRevenueAccount, removeEndedHolds, removeStaleMeters, reserveHoldIds } from './postgresLedgerStatements.ts'
import { writeLedgerChanges } from './writeLedgerChanges.ts'

type Options = {
  store: Store
  /** Creates the ledger that decides on these records. */
  createLedger: (records: LedgerRepository) => CreditLedger
  /**
   * Account that stores the revenue of this process: `service:revenue`, or `service:revenue/NAME`. A process with
   * a separate account does not wait for charges of the others.
   */
  revenue: string
  now: () => number
  /** Clock for daily limits and for the lifetime of holds. */
  steadyMs: () => number
}

type Entry = {
  keys: LedgerKeys
  work: LedgerWork<unknown>
  resolve(value: unknown): void
  reject(error: unknown): void
}
type Outcome = { value: unknown } | { error: AppError }
type QueuedStatement = { expectedRows: number; run(tx: Transaction): Promise<number> }

const maxBatch = 256
const holdIdBlock = 512

/**
 * Ledger in PostgreSQL. All changes that were requested while the previous transaction was written are one transaction:
 * the
 * first statement locks their accounts in the order of their ids, everything else is read after that, the ledger decides
 * in memory, and differences are written. So several processes can work on one account.
 */
export async function openPostgresLedger(options: Options): Promise<LedgerStore> {
  const { store, createLedger, revenue, now, steadyMs } = options
  await store.write((tx) => tx.run(addRevenueAccount, { id: revenue }))
  let queue: Entry[] = []
  let running: Promise<void> | undefined
  let isClosed = false
  let freeHoldIds: number[] = []

  const nextHoldId = (): number => {
    const id = freeHoldIds.shift()
    if (id === undefined) throw new Error('A change of the ledger placed too many holds.')
    return id
  }
  /** Ids may stay unused, after a crash or a failed transaction. */
  const refillHoldIds = async (works: number): Promise<void> => {
    if (freeHoldIds.length >= works) return
    const ids = await store.write((tx) => tx.all(reserveHoldIds, { count: Math.max(holdIdBlock, works) }))
    freeHoldIds = [...freeHoldIds, ...ids]
  }

  const decide = (
    ledger: CreditLedger,
    work: Entry['work'],
    queued: QueuedStatement[],
    count: () => number,
  ): Outcome => {
    const statementsBefore = queued.length
    const changesBefore = count()
    try {
      const run: LedgerStatements['run'] = (statement, expectedRows, ...params) =>
        void queued.push({ expectedRows, run: (tx) => tx.run(statement, ...params) })
      return { value: work(ledger, { run }) }
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      if (queued.length === statementsBefore && count() === changesBefore) return { error }
      throw new Error('A refused change of the ledger had written before.', { cause: error })
    }
  }

  const runTogether = async (tx: Transaction, entries: readonly Entry[]): Promise<Outcome[]> => {
    const rows = await loadLedgerRows(
      tx,
      entries.map(({ keys }) => keys),
      { revenue, nowMs: steadyMs(), isLocked: true },
    )
    const set = createLedgerWorkingSet(rows, { revenue, nextHoldId })
    const ledger = createLedger(set.records)
    const queued: QueuedStatement[] = []
    const outcomes = entries.map(({ work }) => decide(ledger, work, queued, () => set.count))
    await writeLedgerChanges(tx, set.changes, rows)
    for (const { expectedRows, run } of queued) assertChangedRows(await run(tx), expectedRows)
    return outcomes
  }

  const commit = async (entries: readonly Entry[]): Promise<void> => {
    let outcomes: Outcome[]
    try {
      await refillHoldIds(entries.length)
      outcomes = await store.write((tx) => runTogether(tx, entries), { isolation: 'read committed' })
    } catch (error) {
      if (entries.length > 1 && !(error instanceof StoreUnavailableError)) {
        for (const entry of entries) await commit([entry])
        return
      }
      for (const { reject } of entries) reject(toLedgerError(error))
      return
    }
    for (const [index, { resolve, reject }] of entries.entries()) {
      const outcome = outcomes[index]
      if (outcome && 'value' in outcome) resolve(outcome.value)
      else reject(outcome?.error)
    }
  }
  const commitAll = async (): Promise<void> => {
    while (queue.length > 0) {
      const entries = queue.slice(0, maxBatch)
      queue = queue.slice(maxBatch)
      await commit(entries)
    }
    running = undefined
  }
  const assertOpen = (): void => {
    if (isClosed) throw new AppError('data/unwritable', 'The service is stopping.')
  }

  return {
    async change<T>(keys: LedgerKeys, work: LedgerWork<T>): Promise<T> {
      assertOpen()
      return new Promise<T>((resolve, reject) => {
        // the value is returned by `work`
        queue.push({ keys, work, resolve: (value) => resolve(value as T), reject })
        running ??= Promise.resolve().then(commitAll)
      })
    },
    async read(keys, work) {
      const load = (tx: Transaction) => loadLedgerRows(tx, [keys], { revenue, nowMs: steadyMs(), isLocked: false })
      const rows = await store.write(load, { isolation: 'read committed' })
      return work(createLedger(createLedgerWorkingSet(rows, { revenue, nextHoldId: refuseHold }).records))
    },
    removeEndedHolds: () => store.write((tx) => removeEndedHolds(tx, getRetentionStart(now()))),
    async removeStaleMeters() {
      await store.write((tx) => tx.run(removeStaleMeters))
    },
    get hasEnded() {
      return isClosed
    },
    async close() {
      isClosed = true
      await running
    },
  }
}

function refuseHold(): never {
  throw new Error('A read of the ledger may not place a hold.')
}

function toLedgerError(error: unknown): unknown {
  if (error instanceof AppError) return error
  return new AppError('data/unwritable', 'The ledger is not writable.', { cause: error })
}
