import { join } from 'node:path'
import type { Scope } from '#platform/program/scope.ts'
import type { ClockStore } from '#platform/time/clock.ts'
import { createClockStore } from '#storage/clockStore.ts'
import { migrate } from '#storage/migrate.ts'
import { serviceMigrations } from '#storage/migrations/serviceMigrations.ts'
import { deferStatements } from '#storage/sqlite/deferStatements.ts'
import { createGroupCommit } from '#storage/sqlite/groupCommit.ts'
import { logFlush } from '#storage/sqlite/logFlush.ts'
import { type Database, openDatabase } from '#storage/sqlite/openDatabase.ts'
import { createSqliteStore } from '#storage/sqlite/sqliteStore.ts'
import type { Store } from '#storage/store.ts'
import type { CreditLedger } from '../credits/creditLedger.ts'
import { createLedgerRepository, type LedgerRepository } from '../credits/ledgerRepository.ts'
import type { LedgerStore } from '../credits/ledgerStore.ts'
import { createSqliteLedger } from '../credits/sqliteLedger.ts'
import type { ServiceOptions } from './serviceOptions.ts'

/** Data of the service, in SQLite. Closed by the scope. */
export type ServiceData = {
  /** Connection for exposed ports, which are looked up synchronously. */
  database: Database
  store: Store
  clockStore: ClockStore
  openLedger(options: LedgerOptions): Promise<LedgerStore>
}

export type LedgerOptions = {
  /** Creates the ledger that decides on these records. */
  createLedger: (records: LedgerRepository) => CreditLedger
  now: () => number
  /** Clock for daily limits and for the lifetime of holds. */
  steadyMs: () => number
  /** Called after a failed flush. The ledger then rejects all work. */
  onBroken: (error: unknown) => void
}

type DataOptions = Pick<ServiceOptions, 'dataDir' | 'checkData'>

/** Pages of 4 KB. Checkpoints block the thread, so they are rare. */
const checkpointPages = 4_000

/** @throws AppError `data/unusable`, `data/damaged`, `data/newer` */
export function openServiceData({ dataDir, checkData = false }: DataOptions, scope: Scope): ServiceData {
  const database = scope.own(
    deferStatements(openDatabase(join(dataDir, 'service.sqlite'), { check: checkData })),
    (it) => it.close(),
  )
  database.pragma(`wal_autocheckpoint = ${checkpointPages}`)
  migrate(database, serviceMigrations)
  const { flush } = scope.own(logFlush(database), (it) => it.close())
  return {
    database,
    store: scope.own(createSqliteStore(database, { flush }), (it) => it.close()),
    clockStore: createClockStore(database),
    async openLedger({ createLedger, onBroken }) {
      const records = createLedgerRepository(database)
      const commits = scope.own(createGroupCommit({ database, flush, onBroken }), (it) => it.close())
      const { removeStaleMeters } = records
      return createSqliteLedger({ database, ledger: createLedger(records), commits, removeStaleMeters })
    },
  }
}
