import { afterEach, beforeEach, expect, test } from 'vitest'
import { silentLog } from '#platform/logging/log.ts'
import { AccountId } from '#shared/ids.ts'
import { migrate } from '#storage/migrate.ts'
import { serviceMigrations } from '#storage/migrations/serviceMigrations.ts'
import { type Database, openDatabase } from '#storage/sqlite/openDatabase.ts'
import { createSqliteStore } from '#storage/sqlite/sqliteStore.ts'
import { eventually } from '#test/support/assertions/eventually.ts'
import { createDomainRepository } from './domainRepository.ts'
import { createDomains } from './domains.ts'
import { createLocalRegistry } from './registrars/local/localRegistry.ts'
import { type Registrar, type RegistrarDomain, RegistrarError } from './registrars/registrar.ts'

/** Caching of domains and their refresh in the background. */
const ada = AccountId.parse('acc_ada')
const minute = 60_000
let nowMs: number
let database: Database
let calls: string[]
/** Next response of the registrar. */
let find: (name: string) => Promise<RegistrarDomain | undefined>

beforeEach(() => {
  nowMs = Date.UTC(2026, 0, 1)
  calls = []
  database = openDatabase(':memory:')
  migrate(database, serviceMigrations)
  database.prepare('INSERT INTO accounts VALUES (?, ?, ?, ?)').run(ada, 'user', 'Ada', nowMs)
})
afterEach(() => database.close())

const createDomain = (name: string): RegistrarDomain => ({
  ...{ name, status: 'active', registeredAtMs: 0, expiresAtMs: 1, autoRenew: false, privacy: true, locked: true },
  nameservers: ['ns1.example.net', 'ns2.example.net'],
})

async function plantNames(names: readonly string[]) {
  const records = createDomainRepository('local')
  const store = createSqliteStore(database)
  await store.write(async (tx) => {
    for (const name of names) await records.save(tx, { ...createDomain(name), accountId: ada, readAtMs: nowMs })
  })
  const real = createLocalRegistry({ store, prices: [], now: () => nowMs })
  const registrar: Registrar = {
    ...real,
    find(name) {
      calls.push(name)
      return find(name)
    },
  }
  return createDomains({ store, records, registrar, now: () => nowMs, log: silentLog, onChanged: () => {} })
}
const many = Array.from({ length: 5_000 }, (_, index) => `name${index}.com`)

test('returns stale data immediately and refreshes it once for all requests', async () => {
  find = async (name) => ({ ...createDomain(name), privacy: false })
  const all = await plantNames(many.slice(0, 40))
  nowMs += 6 * minute
  for (let times = 0; times < 3; times += 1)
    expect((await all.list(ada))[0]).toMatchObject({ privacy: true, source: 'cache' })
  await eventually(async () => expect((await all.list(ada)).every(({ privacy }) => !privacy)).toBe(true))
  expect(calls.length).toBe(new Set(calls).size)
  await all.close()
})

test('does not refresh fresh data', async () => {
  const all = await plantNames(['fresh.com'])
  nowMs += 4 * minute
  expect((await all.get(ada, 'fresh.com')).source).toBe('cache')
  await all.close()
  expect(calls).toEqual([])
})

test('refreshes thousands of stale domains a few at a time and closes promptly', async () => {
  const release = Promise.withResolvers<void>()
  find = async (name) => {
    await release.promise
    return createDomain(name)
  }
  const all = await plantNames(many)
  nowMs += 6 * minute
  expect(await all.list(ada)).toHaveLength(5_000)
  expect(calls).toHaveLength(4)
  const closed = all.close()
  release.resolve()
  await closed
  expect(calls).toHaveLength(4)
})

test('marks data stale while the registrar is down and delays the retry', async () => {
  find = () => Promise.reject(new RegistrarError('unreachable', 'It is down.'))
  const all = await plantNames(['one.com'])
  nowMs += 6 * minute
  expect((await all.get(ada, 'one.com')).source).toBe('cache')
  await eventually(async () => expect((await all.get(ada, 'one.com')).source).toBe('stale'))
  expect(calls).toEqual(['one.com'])
  find = async (name) => createDomain(name)
  nowMs += minute
  await all.get(ada, 'one.com')
  await eventually(async () => expect((await all.get(ada, 'one.com')).source).toBe('cache'))
  await all.close()
})
