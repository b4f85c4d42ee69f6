import { randomBytes } from 'node:crypto'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { AccountId } from '#shared/ids.ts'
import { migrate } from '#storage/migrate.ts'
import { serviceMigrations } from '#storage/migrations/serviceMigrations.ts'
import { type Database, openDatabase } from '#storage/sqlite/openDatabase.ts'
import { temporaryFolder } from '#test/support/fixtures/temporaryFolder.ts'
import { type AccountRepository, createAccountRepository } from './accountRepository.ts'
import { type ApiKeys, createApiKeys } from './apiKeys.ts'
import { ensureOwner } from './ownerAccount.ts'

let database: Database
let accounts: AccountRepository
let keys: ApiKeys
let owner: AccountId
let keyFile: string
let nowMs: number

beforeEach(() => {
  nowMs = 1_000_000
  const folder = temporaryFolder('accounts')
  database = openDatabase(join(folder, 'service.sqlite'))
  migrate(database, serviceMigrations)
  accounts = createAccountRepository(database)
  keyFile = join(folder, 'owner.key')
  keys = createApiKeys({ accounts, now: () => nowMs, randomBytes })
  owner = ensureOwner({ accounts, keyFile, now: () => nowMs, randomBytes })
})
afterEach(() => database.close())

const fileKey = () => readFileSync(keyFile, 'utf8').trim()
const again = () => ensureOwner({ accounts, keyFile, now: () => nowMs, randomBytes })

test('the owner keeps one account and one key across service starts', () => {
  const key = fileKey()
  expect(again()).toBe(owner)
  expect(fileKey()).toBe(key)
  expect(keys.list(owner).map(({ name }) => name)).toEqual(['Owner key'])
  expect(keys.identify(key)).toMatchObject({ accountId: owner, owner: true, onlySandbox: undefined })
})

test('replaces an invalid key file and restores its mode', () => {
  const old = fileKey()
  writeFileSync(keyFile, 'scribble')
  again()
  expect(fileKey()).toMatch(/^sk_steward_[A-Za-z0-9_-]{43}$/)
  expect(keys.identify(old)).toBeUndefined()
  expect(keys.identify(fileKey())?.owner).toBe(true)
  expect(statSync(keyFile).mode & 0o777).toBe(0o600)
})

test('does not accept a well-formed forged key as the owner', () => {
  const forged = `sk_steward_${'x'.repeat(43)}`
  writeFileSync(keyFile, forged)
  again()
  expect(fileKey()).not.toBe(forged)
  expect(keys.identify(forged)).toBeUndefined()
})

test('stores only a hash and a prefix of a key', () => {
  const { key, prefix } = keys.create(owner, 'script')
  const storedText = JSON.stringify(database.prepare('SELECT name, prefix, hex(hash) AS hash FROM api_keys').all())
  expect(storedText).not.toContain(key)
  expect(key.startsWith(prefix)).toBe(true)
  expect(prefix.length).toBe(17)
})

test('writes the last use at most once a minute', () => {
  const { id, key } = keys.create(owner, 'script')
  const lastUse = () => accounts.findKey(owner, id)?.lastUsedAtMs
  expect(lastUse()).toBeNull()
  keys.identify(key)
  expect(lastUse()).toBe(1_000_000)
  nowMs += 59_999
  keys.identify(key)
  expect(lastUse()).toBe(1_000_000)
  nowMs += 1
  keys.identify(key)
  expect(lastUse()).toBe(1_060_000)
})

test('a revoked key is invalid, and only its own account can revoke it', () => {
  const { id, key } = keys.create(owner, 'script')
  const stranger = 'acct_other' as AccountId
  expect(() => keys.revoke(stranger, id)).toThrow(expect.objectContaining({ code: 'key/not-found' }))
  keys.revoke(owner, id)
  expect(keys.identify(key)).toBeUndefined()
})

test.each(['', 'sk_steward_', 'sk_steward_short', `sk_steward_${'x'.repeat(44)}`, 'x'.repeat(10_000)])(
  'rejects a malformed key',
  (key) => expect(keys.identify(key)).toBeUndefined(),
)

test('an account has at most two hundred keys', () => {
  for (let count = keys.list(owner).length; count < 200; count += 1) keys.create(owner, `key ${count}`)
  expect(() => keys.create(owner, 'one more')).toThrow('This account has 200 API keys, which is the maximum.')
  const [newest] = keys.list(owner)
  keys.revoke(owner, newest?.id ?? '')
  expect(keys.create(owner, 'again').name).toBe('again')
})
