import { join } from 'node:path'
import type { Scope } from '#platform/program/scope.ts'
import type { ClockStore } from '#platform/time/clock.ts'
import { createClockFile } from '#storage/clockFile.ts'
import { createClockStore } from '#storage/clockStore.ts'
import { migrate } from '#storage/migrate.ts'
import { serviceMigrations } from '#storage/migrations/serviceMigrations.ts'
import { deferStatements } from '#storage/sqlite/deferStatements.ts'
import { createGroupCommit } from '#storage/sqlite/groupCommit.ts'
import { logFlush } from '#storage/sqlite/logFlush.ts'
import { openDatabase } from '#storage/sqlite/openDatabase.ts'
import { releaseFreePages } from '#storage/sqlite/releaseFreePages.ts'
import { createSqliteStore } from '#storage/sqlite/sqliteStore.ts'
import type { Store } from '#storage/store.ts'
import type { CreditLedger } from '../credits/creditLedger.ts'
import { createLedgerRepository, type LedgerRepository } from '../credits/ledgerRepository.ts'
import type { LedgerStore } from '../credits/ledgerStore.ts'
import { openPostgresLedger } from '../credits/postgresLedger.ts'
import { createSqliteLedger } from '../credits/sqliteLedger.ts'
import type { ServiceOptions } from './serviceOptions.ts'

/** Data of the service, in SQLite or PostgreSQL. Closed by the scope. */
export type ServiceData = {
  store: Store
  clockStore: ClockStore
  /** Returns unused space of the file to the system. PostgreSQL does so itself. */
  releaseSpace(): void
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

type DataOptions = Pick<ServiceOptions, 'dataDir' | 'checkData' | 'databaseUrl' | 'log'>

/** Pages of 4 KB. Checkpoints block the thread, so they are rare. */
const checkpointPages = 4_000

/** @throws AppError `data/unusable`, `data/damaged`, `data/newer`, StoreUnavailableError */
export async function openServiceData(options: DataOptions, scope: Scope): Promise<ServiceData> {
  const { databaseUrl } = options
  return databaseUrl === undefined ? openSqliteData(options, scope) : openPostgresData(options, databaseUrl, scope)
}

function openSqliteData({ dataDir, checkData = false }: DataOptions, scope: Scope): ServiceData {
  const database = scope.own(
    deferStatements(openDatabase(join(dataDir, 'service.sqlite'), { check: checkData })),
    (it) => it.close(),
  )
  database.pragma(`wal_autocheckpoint = ${checkpointPages}`)
  migrate(database, serviceMigrations)
  const { flush } = scope.own(logFlush(database), (it) => it.close())
  return {
    store: scope.own(createSqliteStore(database, { flush }), (it) => it.close()),
    clockStore: createClockStore(database),
    releaseSpace: () => releaseFreePages(database),
    async openLedger({ createLedger, onBroken }) {
      const records = createLedgerRepository(database)
      const commits = scope.own(createGroupCommit({ database, flush, onBroken }), (it) => it.close())
      const { removeStaleMeters } = records
      return createSqliteLedger({ database, ledger: createLedger(records), commits, removeStaleMeters })
    },
  }
}

/** Loads the driver only when it is needed. */
async function openPostgresData({ dataDir, log }: DataOptions, url: string, scope: Scope): Promise<ServiceData> {
  const { openPostgresStore } = await import('#storage/postgres/postgresStore.ts')
  const { migratePostgres } = await import('#storage/postgres/migratePostgres.ts')
  const { claimDatabase, requireClaim } = await import('#storage/postgres/claimDatabase.ts')
  const databaseLog = log.forArea('database')
  const opened = await openPostgresStore({ url, log: databaseLog }) // checks the server
  const claim = await claimDatabase({ url, log: databaseLog }).catch(async (error: unknown) => {
    await opened.close()
    throw error
  })
  scope.own(claim, (it) => it.close())
  const store = scope.own(requireClaim(opened, claim), (it) => it.close()) // closed before the claim ends
  await migratePostgres(url)
  return {
    store,
    clockStore: createClockFile(join(dataDir, 'clock.json')),
    releaseSpace() {},
    openLedger: async ({ createLedger, now, steadyMs }) =>
      scope.own(await openPostgresLedger({ store, createLedger, revenue: 'service:revenue', now, steadyMs }), (it) =>
        it.close(),
      ),
  }
}
