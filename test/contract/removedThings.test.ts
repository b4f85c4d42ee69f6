import { expect, test } from 'vitest'
import { silentLog } from '#platform/logging/log.ts'
import { createRemovedThingAnnouncer } from '#service/references/removedThingAnnouncer.ts'
import { removedThingRepository } from '#service/references/removedThingRepository.ts'
import { AccountId } from '#shared/ids.ts'
import { defineStatement, type Store, StoreUnavailableError } from '#storage/store.ts'
import type { Params } from '#storage/table.ts'
import { openServiceStore, seedAccounts } from '../support/fixtures/serviceStore.ts'
import { describeStores, type StoreEngine } from '../support/fixtures/storeEngines.ts'

const [ada, bob] = [AccountId.parse('acc_ada'), AccountId.parse('acc_bob')]

/** Outbox of removals, on both engines of the store. */
describeStores('removed things', (engine) => {
  test('a removal is listed once its transaction is committed', async () => {
    const store = await open(engine)
    await addKeys(store, ada, ['key_1', 'key_2'])
    const rollback = store.write(async (tx) => {
      await tx.run(removeKey, { id: 'key_1' })
      throw new Error('taken back')
    })
    await expect(rollback).rejects.toThrow('taken back')
    expect(await list(store, ada)).toEqual([])
    await remove(store, 'key_2')
    const [removal, ...others] = await list(store, ada)
    expect([removal, others]).toEqual([{ sequence: expect.any(Number), kind: 'key', id: 'key_2', name: 'key_2' }, []])
    expect(await removedThingRepository.getLastSequence(store.read, ada)).toBe(removal?.sequence)
    expect(await list(store, bob)).toEqual([])
    expect(await removedThingRepository.getLastSequence(store.read, bob)).toBe(0)
  })

  test('pages continue after a sequence', async () => {
    const store = await open(engine)
    const ids = ['key_1', 'key_2', 'key_3']
    await addKeys(store, ada, ids)
    for (const id of ids) await remove(store, id)
    const [first, second] = await removedThingRepository.list(store.read, ada, { after: 0, limit: 2 })
    const rest = await removedThingRepository.list(store.read, ada, { after: second?.sequence ?? 0, limit: 2 })
    expect([first, second, ...rest].map((thing) => thing?.id)).toEqual(ids)
  })

  test('30 concurrent removals are announced with the last sequence of each account, in order', async () => {
    const store = await open(engine)
    const ids = Array.from({ length: 30 }, (_, index) => `key_${index}`)
    await addKeys(store, ada, ids)
    await addKeys(store, bob, ['key_bob'])
    const { announcer, published } = await watch(store)
    await Promise.all(
      ids.map(async (id) => {
        await remove(store, id)
        await announcer.announce()
      }),
    )
    await remove(store, 'key_bob')
    await announcer.announce()
    await announcer.announce()
    const ofAda = published.filter(([account]) => account === ada).map(([, sequence]) => sequence)
    expect(ofAda).toEqual([...ofAda].sort((a, b) => a - b))
    expect(ofAda.at(-1)).toBe(await removedThingRepository.getLastSequence(store.read, ada))
    expect(published.filter(([account]) => account === bob)).toEqual([
      [bob, await removedThingRepository.getLastSequence(store.read, bob)],
    ])
    expect((await list(store, ada)).map(({ id }) => id).sort()).toEqual([...ids].sort())
  })

  test('removals before the start are not announced', async () => {
    const store = await open(engine)
    await addKeys(store, ada, ['key_1'])
    await remove(store, 'key_1')
    const { announcer, published } = await watch(store)
    await announcer.announce()
    expect(published).toEqual([])
  })

  test('removals that could not be read are announced by the next call', async () => {
    const store = await open(engine)
    let isAway = false
    const read: Store['read'] = {
      first: store.read.first,
      all: (statement, ...params) =>
        isAway ? Promise.reject(new StoreUnavailableError('away', {})) : store.read.all(statement, ...params),
    }
    await addKeys(store, ada, ['key_1'])
    const { announcer, published } = await watch({ ...store, read })
    isAway = true
    await remove(store, 'key_1')
    await announcer.announce()
    expect(published).toEqual([])
    isAway = false
    await announcer.announce()
    expect(published).toEqual([[ada, await removedThingRepository.getLastSequence(store.read, ada)]])
  })

  test('closing waits for the announcement under way, and ends later ones', async () => {
    const store = await open(engine)
    await addKeys(store, ada, ['key_1', 'key_2'])
    const { announcer, published } = await watch(store)
    await remove(store, 'key_1')
    void announcer.announce()
    await announcer.close()
    expect(published).toHaveLength(1)
    await remove(store, 'key_2')
    await announcer.announce()
    expect(published).toHaveLength(1)
  })
})

const insertKey = defineStatement<Params<'id' | 'accountId' | 'hash'>>(
  `INSERT INTO api_keys (id, account_id, name, hash, prefix, in_owner_file, created_at_ms)
    VALUES (@id, @accountId, @id, @hash, 'sk', 0, 1)`,
)
const removeKey = defineStatement<Params<'id'>>('DELETE FROM api_keys WHERE id = @id')
const remove = (store: Store, id: string) => store.write((tx) => tx.run(removeKey, { id }))
const list = (store: Store, account: AccountId) =>
  removedThingRepository.list(store.read, account, { after: 0, limit: 100 })

async function open(engine: StoreEngine): Promise<Store> {
  const { store } = await openServiceStore(engine)
  await seedAccounts(store, ada, bob)
  return store
}

async function addKeys(store: Store, accountId: AccountId, ids: readonly string[]): Promise<void> {
  await store.write(async (tx) => {
    for (const id of ids) await tx.run(insertKey, { id, accountId, hash: Buffer.alloc(32, id) })
  })
}

async function watch(store: Store) {
  const published: [AccountId, number][] = []
  const announcer = await createRemovedThingAnnouncer({
    read: store.read,
    publish(accountId, event) {
      if (event.type === 'things.removed') published.push([accountId, event.sequence])
    },
    log: silentLog,
  })
  return { announcer, published }
}
