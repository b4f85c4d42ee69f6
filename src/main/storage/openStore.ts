import type { Log } from '#platform/logging/log.ts'
import type { Database } from './sqlite/openDatabase.ts'
import { createSqliteStore } from './sqlite/sqliteStore.ts'
import type { Store } from './store.ts'

/**
 * Opens the store of the configured engine. Loads the PostgreSQL client only if it is used.
 * @throws AppError `data/unusable`, StoreUnavailableError
 */
export async function openStore(engine: { database: Database } | { url: string; log: Log }): Promise<Store> {
  if ('database' in engine) return createSqliteStore(engine.database)
  const { openPostgresStore } = await import('./postgres/postgresStore.ts')
  return openPostgresStore(engine)
}
