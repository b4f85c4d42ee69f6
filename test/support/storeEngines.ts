import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe } from 'vitest'
import { openPostgresStore, type PostgresOptions } from '#storage/postgres/postgresStore.ts'
import { type Database, openDatabase } from '#storage/sqlite/openDatabase.ts'
import { createSqliteStore } from '#storage/sqlite/sqliteStore.ts'
import type { Store } from '#storage/store.ts'
import { temporaryFolder } from './fixtures/temporaryFolder.ts'
import { postgresMissing, startPostgres, type TestPostgres } from './postgres.ts'
import { skipWhen } from './runner/skipWhen.ts'

export type StoreEngine = {
  name: 'sqlite' | 'postgres'
  /** Opens a store on a new, empty database. It is closed after the test. */
  open(): Promise<OpenedStore>
}
export type OpenedStore = { store: Store } & (
  | { name: 'sqlite'; database: Database }
  | {
      name: 'postgres'
      url: string
      server: TestPostgres
      /** Opens another store on the same database, as another process does. */
      openAgain(options?: Partial<PostgresOptions>): Promise<Store>
    }
)

/** Runs a suite on SQLite and on PostgreSQL. Skips the latter, with the reason, if it is not installed. */
export function describeStores(name: string, suite: (engine: StoreEngine) => void): void {
  describe(`${name} on SQLite`, () => {
    const opened: { store: Store; database: Database }[] = []
    afterEach(async () => {
      for (const { store, database } of opened.splice(0)) {
        await store.close()
        database.close()
      }
    })
    suite({
      name: 'sqlite',
      async open() {
        const database = openDatabase(join(temporaryFolder('store'), 'data.sqlite'))
        const store = createSqliteStore(database)
        opened.push({ store, database })
        return { name: 'sqlite', store, database }
      },
    })
  })

  describe(`${name} on PostgreSQL`, () => {
    skipWhen(postgresMissing)
    let server: TestPostgres
    const opened: Store[] = []
    beforeAll(async () => {
      if (postgresMissing === undefined) server = await startPostgres()
    })
    afterAll(() => server?.stop())
    afterEach(async () => {
      for (const store of opened.splice(0)) await store.close()
    })
    suite({
      name: 'postgres',
      async open() {
        const url = await server.createDatabase()
        const openAgain = async (options?: Partial<PostgresOptions>): Promise<Store> => {
          const store = await openPostgresStore({ url, ...options })
          opened.push(store)
          return store
        }
        return { name: 'postgres', store: await openAgain(), url, server, openAgain }
      },
    })
  })
}
