import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { accountRepository } from '#service/accounts/accountRepository.ts'
import { createApiKeys } from '#service/accounts/apiKeys.ts'
import { ensureOwner } from '#service/accounts/ownerAccount.ts'
import { AppError } from '#shared/appError.ts'
import { AccountId } from '#shared/ids.ts'
import { toMicroUsd } from '#shared/microUsd.ts'
import { defineStatement, type Store } from '#storage/store.ts'
import { openServiceStore, seedAccounts } from '../support/fixtures/serviceStore.ts'
import { describeStores, type StoreEngine } from '../support/fixtures/storeEngines.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'

const [ada, bob] = [AccountId.parse('acct_ada'), AccountId.parse('acct_bob')]
const nowMs = 1_000_000

/** Accounts and API keys, on both engines of the store. */
describeStores('account keys', (engine) => {
  test('a key is stored with its rules and identifies its account', async () => {
    const { store, keys } = await open(engine)
    const rules = { models: ['a', 'b'], dailyLimit: toMicroUsd(250_000) }
    const { key, ...record } = await keys.create(ada, 'script', rules)
    expect(await accountRepository.findKey(store.read, ada, record.id)).toEqual(record)
    expect(await accountRepository.findKey(store.read, bob, record.id)).toBeUndefined()
    expect(await keys.getRules(record.id)).toEqual({ accountId: ada, ...rules })
    expect(await keys.identify(key)).toEqual({
      accountId: ada,
      principal: `key:${record.id}`,
      owner: false,
      managesAccount: false,
      onlySandbox: undefined,
      keyId: record.id,
      actingKey: { id: record.id, name: 'script' },
      wallet: undefined,
    })
    expect(await keys.list(ada)).toEqual([{ ...record, lastUsedAtMs: nowMs }])
    expect(await keys.list(bob)).toEqual([])
  })

  test('lists the newest key first', async () => {
    const clock = { nowMs }
    const { keys } = await open(engine, () => clock.nowMs++)
    for (const name of ['first', 'second', 'third']) await keys.create(ada, name)
    expect((await keys.list(ada)).map(({ name }) => name)).toEqual(['third', 'second', 'first'])
  })

  test('of 50 parallel creations, those within the limit of 200 succeed', async () => {
    const { keys } = await open(engine)
    for (let count = 0; count < 180; count += 1) await keys.create(ada, `key ${count}`)
    const results = await Promise.allSettled(
      Array.from({ length: 50 }, (_, index) => keys.create(ada, `late ${index}`)),
    )
    const reasons = results.flatMap((it) => (it.status === 'rejected' ? [it.reason] : []))
    expect(reasons.filter((it) => !(it instanceof AppError && it.code === 'key/too-many'))).toEqual([])
    expect([reasons.length, (await keys.list(ada)).length]).toEqual([30, 200])
  })

  test('a requester whose rights have ended adds no key', async () => {
    const { keys } = await open(engine)
    const assertAllowed = async () => {
      throw new AppError('auth/invalid', 'This sign-in has ended.')
    }
    await expect(keys.create(ada, 'late', { assertAllowed })).rejects.toMatchObject({ code: 'auth/invalid' })
    expect(await keys.list(ada)).toEqual([])
  })

  test('a key that is used while it is revoked is unknown afterwards', async () => {
    const { keys } = await open(engine)
    for (let round = 0; round < 10; round += 1) {
      const { id, key } = await keys.create(ada, `key ${round}`)
      const used = Promise.all(Array.from({ length: 20 }, () => keys.identify(key)))
      const rules = Promise.all(Array.from({ length: 20 }, () => keys.getRules(id)))
      await keys.revoke(ada, id)
      expect([await keys.identify(key), await keys.getRules(id)]).toEqual([undefined, undefined])
      await Promise.all([used, rules])
      expect([await keys.identify(key), await keys.getRules(id)]).toEqual([undefined, undefined])
    }
  })

  test('a lookup that began before a revocation does not fill the cache after it', async () => {
    const { store } = await open(engine)
    const { promise: gate, resolve: openGate } = Promise.withResolvers<void>()
    const read: Store['read'] = {
      async first(statement, ...params) {
        const row = await store.read.first(statement, ...params)
        await gate
        return row
      },
      all: store.read.all,
    }
    const keys = createApiKeys({ store: { ...store, read }, now: () => nowMs, randomBytes })
    const { id, key } = await keys.create(ada, 'script')
    const early = [keys.identify(key), keys.getRules(id)]
    await store.read.first(countOwners) // later than the reads of the lookups
    await keys.revoke(ada, id)
    openGate()
    await Promise.all(early)
    expect([await keys.identify(key), await keys.getRules(id)]).toEqual([undefined, undefined])
  })

  test('of 20 parallel revocations of a key, one succeeds', async () => {
    const { keys } = await open(engine)
    const { id } = await keys.create(ada, 'script')
    const results = await Promise.allSettled(Array.from({ length: 20 }, () => keys.revoke(ada, id)))
    const reasons = results.flatMap((it) => (it.status === 'rejected' ? [it.reason] : []))
    expect(reasons).toHaveLength(19)
    expect(reasons.every((it) => it instanceof AppError && it.code === 'key/not-found')).toBe(true)
  })

  test('20 parallel uses of a key write its last use once a minute', async () => {
    const clock = { nowMs }
    const { keys, writes } = await open(engine, () => clock.nowMs)
    const { id, key } = await keys.create(ada, 'script')
    const use = () => Promise.all(Array.from({ length: 20 }, () => keys.identify(key)))
    writes.count = 0
    expect((await use()).map((caller) => caller?.keyId)).toEqual(Array.from({ length: 20 }, () => id))
    clock.nowMs += 59_999
    await use()
    expect(writes.count).toBe(1)
    clock.nowMs += 1
    await use()
    expect(writes.count).toBe(2)
    expect((await keys.list(ada))[0]?.lastUsedAtMs).toBe(clock.nowMs)
  })

  test('a key that was looked up is identified without the database', async () => {
    const { keys, reads } = await open(engine)
    const { id, key } = await keys.create(ada, 'script')
    expect([await keys.identify('sk_steward_none'), reads.count]).toEqual([undefined, 0])
    await keys.identify(key)
    await keys.getRules(id)
    expect(reads.count).toBe(2)
    await keys.identify(key)
    await keys.getRules(id)
    expect(reads.count).toBe(2)
  })

  test('10 concurrent first starts create one owner with one key', async () => {
    const { store } = await open(engine)
    const keyFile = join(temporaryFolder('owner'), 'owner.key')
    const start = () => ensureOwner({ store, keyFile, now: () => nowMs, randomBytes })
    const owners = new Set(await Promise.all(Array.from({ length: 10 }, start)))
    expect(owners.size).toBe(1)
    const owner = await start()
    expect([...owners]).toEqual([owner])
    expect(await store.read.first(countOwners)).toBe(1)
    const keys = createApiKeys({ store, now: () => nowMs, randomBytes })
    expect((await keys.list(owner)).map(({ name, inOwnerFile }) => [name, inOwnerFile])).toEqual([['Owner key', true]])
    expect((await keys.identify(readFileSync(keyFile, 'utf8').trim()))?.owner).toBe(true)
  })
})

const countOwners = defineStatement(`SELECT count(*) AS count FROM accounts WHERE role = 'owner'`).withRows((row) =>
  Number(row.count),
)

async function open(engine: StoreEngine, now = () => nowMs) {
  const { store } = await openServiceStore(engine)
  await seedAccounts(store, ada, bob)
  const [reads, writes] = [{ count: 0 }, { count: 0 }]
  const counted: Store = {
    ...store,
    read: {
      first(statement, ...params) {
        reads.count += 1
        return store.read.first(statement, ...params)
      },
      all: store.read.all,
    },
    write(work, options) {
      writes.count += 1
      return store.write(work, options)
    },
  }
  return { store, reads, writes, keys: createApiKeys({ store: counted, now, randomBytes }) }
}
