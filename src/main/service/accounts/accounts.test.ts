import { randomBytes } from 'node:crypto'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { AccountId } from '#shared/ids.ts'
import { migrate } from '#storage/migrate.ts'
import { serviceMigrations } from '#storage/migrations/serviceMigrations.ts'
import { type Database, openDatabase } from '#storage/sqlite/openDatabase.ts'
import { createSqliteStore } from '#storage/sqlite/sqliteStore.ts'
import type { Store } from '#storage/store.ts'
import { temporaryFolder } from '#test/support/fixtures/temporaryFolder.ts'
import { accountRepository } from './accountRepository.ts'
import { type ApiKeys, createApiKeys } from './apiKeys.ts'
import { ensureOwner } from './ownerAccount.ts'

let database: Database
let store: Store
let keys: ApiKeys
let owner: AccountId
let keyFile: string
let nowMs: number

beforeEach(async () => {
  nowMs = 1_000_000
  const folder = temporaryFolder('accounts')
  database = openDatabase(join(folder, 'service.sqlite'))
  migrate(database, serviceMigrations)
  store = createSqliteStore(database)
  keyFile = join(folder, 'owner.key')
  keys = createApiKeys({ store, now: () => nowMs, randomBytes })
  owner = await ensureOwner({ store, keyFile, now: () => nowMs, randomBytes })
})
afterEach(async () => {
  await store.close()
  database.close()
})

const fileKey = () => readFileSync(keyFile, 'utf8').trim()
const again = () => ensureOwner({ store, keyFile, now: () => nowMs, randomBytes })

test('the owner keeps one account and one key across service starts', async () => {
  const key = fileKey()
  expect(await again()).toBe(owner)
  expect(fileKey()).toBe(key)
  expect((await keys.list(owner)).map(({ name }) => name)).toEqual(['Owner key'])
  expect(await keys.identify(key)).toMatchObject({ accountId: owner, owner: true, onlySandbox: undefined })
})

test('replaces an invalid key file and restores its mode', async () => {
  const old = fileKey()
  writeFileSync(keyFile, 'scribble')
  await again()
  expect(fileKey()).toMatch(/^sk_steward_[A-Za-z0-9_-]{43}$/)
  expect(await keys.identify(old)).toBeUndefined()
  expect((await keys.identify(fileKey()))?.owner).toBe(true)
  expect(statSync(keyFile).mode & 0o777).toBe(0o600)
})

test('does not accept a well-formed forged key as the owner', async () => {
  const forged = `sk_steward_${'x'.repeat(43)}`
  writeFileSync(keyFile, forged)
  await again()
  expect(fileKey()).not.toBe(forged)
  expect(await keys.identify(forged)).toBeUndefined()
})

test('stores only a hash and a prefix of a key', async () => {
  const { key, prefix } = await keys.create(owner, 'script')
  const storedText = JSON.stringify(database.prepare('SELECT name, prefix, hex(hash) AS hash FROM api_keys').all())
  expect(storedText).not.toContain(key)
  expect(key.startsWith(prefix)).toBe(true)
  expect(prefix.length).toBe(17)
})

test('writes the last use at most once a minute', async () => {
  const { id, key } = await keys.create(owner, 'script')
  const lastUse = async () => (await accountRepository.findKey(store.read, owner, id))?.lastUsedAtMs
  expect(await lastUse()).toBeNull()
  await keys.identify(key)
  expect(await lastUse()).toBe(1_000_000)
  nowMs += 59_999
  await keys.identify(key)
  expect(await lastUse()).toBe(1_000_000)
  nowMs += 1
  await keys.identify(key)
  expect(await lastUse()).toBe(1_060_000)
})

test('a revoked key is invalid, and only its own account can revoke it', async () => {
  const { id, key } = await keys.create(owner, 'script')
  const stranger = 'acct_other' as AccountId
  await expect(keys.revoke(stranger, id)).rejects.toMatchObject({ code: 'key/not-found' })
  await keys.revoke(owner, id)
  expect(await keys.identify(key)).toBeUndefined()
})

test.each(['', 'sk_steward_', 'sk_steward_short', `sk_steward_${'x'.repeat(44)}`, 'x'.repeat(10_000)])(
  'rejects a malformed key',
  async (key) => expect(await keys.identify(key)).toBeUndefined(),
)

test('an account has at most two hundred keys', async () => {
  for (let count = (await keys.list(owner)).length; count < 200; count += 1) await keys.create(owner, `key ${count}`)
  await expect(keys.create(owner, 'one more')).rejects.toThrow('This account has 200 API keys, which is the maximum.')
  const [newest] = await keys.list(owner)
  await keys.revoke(owner, newest?.id ?? '')
  expect((await keys.create(owner, 'again')).name).toBe('again')
})
