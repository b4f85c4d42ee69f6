import { afterEach, beforeEach, expect, test } from 'vitest'
import { silentLog } from '#platform/logging/log.ts'
import { AccountId } from '#shared/ids.ts'
import { migrate } from '#storage/migrate.ts'
import { serviceMigrations } from '#storage/migrations/serviceMigrations.ts'
import { type Database, openDatabase } from '#storage/sqlite/openDatabase.ts'
import { createSqliteStore } from '#storage/sqlite/sqliteStore.ts'
import type { Store } from '#storage/store.ts'
import { createRemovedThingAnnouncer } from './removedThingAnnouncer.ts'
import { removedThingRepository } from './removedThingRepository.ts'

const [ada, bob] = [AccountId.parse('acc_ada'), AccountId.parse('acc_bob')]
let database: Database
let store: Store

beforeEach(() => {
  database = openDatabase(':memory:')
  migrate(database, serviceMigrations)
  for (const id of [ada, bob]) database.prepare('INSERT INTO accounts VALUES (?, ?, ?, 1)').run(id, 'user', id)
  store = createSqliteStore(database)
})
afterEach(async () => {
  await store.close()
  database.close()
})
const list = (accountId: AccountId, limit = 10) =>
  removedThingRepository.list(store.read, accountId, { after: 0, limit })

const addKey = (id: string, accountId = ada): void => {
  const add = database.prepare(
    `INSERT INTO api_keys (id, account_id, name, hash, prefix, in_owner_file, created_at_ms)
      VALUES (?, ?, ?, ?, 'sk', 0, 1)`,
  )
  add.run(id, accountId, `named ${id}`, Buffer.alloc(32, id))
}
const removeKey = (id: string): void => void database.prepare('DELETE FROM api_keys WHERE id = ?').run(id)

test('records a removal in the same transaction', async () => {
  addKey('key_1')
  const removal = database.transaction(() => {
    removeKey('key_1')
    throw new Error('taken back')
  })
  expect(removal).toThrow('taken back')
  expect(await list(ada)).toEqual([])
  removeKey('key_1')
  expect(await list(ada)).toEqual([{ sequence: 1, kind: 'key', id: 'key_1', name: 'named key_1' }])
  expect(await list(bob)).toEqual([])
})

test('retains the newest 1,000 removals per account and never reuses sequences', async () => {
  for (let index = 1; index <= 1_100; index += 1) {
    addKey(`key_${index}`)
    removeKey(`key_${index}`)
  }
  const listed = await list(ada, 2_000)
  expect([listed.length, listed[0]?.id, listed.at(-1)?.id]).toEqual([1_000, 'key_101', 'key_1100'])
  database.prepare('DELETE FROM removed_things').run()
  addKey('key_last')
  removeKey('key_last')
  expect(await removedThingRepository.getLastSequence(store.read, ada)).toBe(1_101)
})

test('announces each removal once to its account, except those before the start', async () => {
  addKey('key_0')
  removeKey('key_0')
  const announcements: unknown[] = []
  const { announce } = await createRemovedThingAnnouncer({
    read: store.read,
    publish: (accountId, event) => announcements.push([accountId, event]),
    log: silentLog,
  })
  await announce()
  expect(announcements).toEqual([])
  for (const [id, account] of [
    ['key_1', ada],
    ['key_2', bob],
    ['key_3', ada],
  ] as const) {
    addKey(id, account)
    removeKey(id)
  }
  await announce()
  await announce()
  expect(announcements).toEqual([
    [ada, { type: 'things.removed', sequence: 4 }],
    [bob, { type: 'things.removed', sequence: 3 }],
  ])
})
