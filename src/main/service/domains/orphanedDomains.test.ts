import { afterEach, beforeEach, expect, test } from 'vitest'
import { AccountId } from '#shared/ids.ts'
import { migrate } from '#storage/migrate.ts'
import { serviceMigrations } from '#storage/migrations/serviceMigrations.ts'
import { type Database, openDatabase } from '#storage/sqlite/openDatabase.ts'
import { createSqliteStore } from '#storage/sqlite/sqliteStore.ts'
import { createOrphanedDomains } from './orphanedDomains.ts'
import type { RegistrarRecord } from './registrars/registrar.ts'

const accountId = AccountId.parse('acc_ada')
let database: Database
beforeEach(() => {
  database = openDatabase(':memory:')
  migrate(database, serviceMigrations)
})
afterEach(() => database.close())

const zone = { accountId, name: 'ada.dev' }
const record = (id: string, host: string): RegistrarRecord => ({
  ...{ id, type: 'A', host, value: '192.0.2.1', ttl: 300, distance: null },
})

type Names = { add(name: string): void; remove(name: string): void }

/** Creates orphaned names in one zone, each with a record. `onRemoved` is called on each removal at the registrar. */
function openOrphans(onRemoved: (names: Names, id: string) => void) {
  database.prepare('INSERT INTO accounts VALUES (?, ?, ?, ?)').run(accountId, 'user', 'Ada', 0)
  const insert = database.prepare('INSERT INTO orphaned_domains VALUES (?, ?, ?, ?)')
  const remove = database.prepare('DELETE FROM orphaned_domains WHERE domain = ?')
  const names: Names = {
    add: (name) => void insert.run(name, accountId, '0'.repeat(32), 'atlas'),
    remove: (name) => void remove.run(name),
  }
  for (const name of ['a.ada.dev', 'b.ada.dev']) names.add(name)
  const atRegistrar = [record('1', 'a'), record('2', 'b'), record('3', 'c')]
  const orphans = createOrphanedDomains({
    store: createSqliteStore(database),
    zones: {
      list: async () => ({ records: [...atRegistrar] }) as never,
      async remove(_, id) {
        onRemoved(names, id)
        return atRegistrar.splice(
          atRegistrar.findIndex((it) => it.id === id),
          1,
        )[0] as RegistrarRecord
      },
    },
    addresses: async () => [{ type: 'A', value: '192.0.2.1' }],
    sandboxHost: undefined,
    ownsDomain: async () => true,
    recordForAccount: () => undefined,
    onChanged: () => undefined,
  })
  const list = async () => (await orphans.list(accountId)).map(({ domain }) => domain)
  return { orphans, list, left: () => atRegistrar.map(({ host }) => host) }
}

test('keeps records of a domain added to another sandbox during removal', async () => {
  const { orphans, left } = openOrphans((names, id) => {
    if (id === '1') names.remove('b.ada.dev')
  })
  expect((await orphans.removeRecords(zone)).map(({ host }) => host)).toEqual(['a'])
  expect(left()).toEqual(['b', 'c'])
})

test('keeps a domain listed that is orphaned during removal', async () => {
  const { orphans, list } = openOrphans((names, id) => {
    if (id === '1') names.add('c.ada.dev')
  })
  expect((await orphans.removeRecords(zone)).map(({ host }) => host)).toEqual(['a', 'b'])
  expect(await list()).toEqual(['c.ada.dev'])
})
