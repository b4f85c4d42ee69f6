import { expect, test } from 'vitest'
import { createKeyedQueue } from '#platform/concurrency/keyedQueue.ts'
import { silentLog } from '#platform/logging/log.ts'
import type { HostCall } from '#service/host/hostCalls.ts'
import type { SandboxRecord } from '#service/sandboxes/sandboxRepository.ts'
import { type SnapshotRecord, snapshotRepository } from '#service/snapshots/snapshotRepository.ts'
import { createSnapshots } from '#service/snapshots/snapshots.ts'
import { maxSnapshots } from '#shared/contract/snapshots.ts'
import { AccountId, SandboxId, SnapshotId } from '#shared/ids.ts'
import type { Store } from '#storage/store.ts'
import { openServiceStore, seedAccounts, seedSandbox } from '../support/fixtures/serviceStore.ts'
import { describeStores, type StoreEngine } from '../support/fixtures/storeEngines.ts'

const ada = AccountId.parse('acc_ada')
const sandboxId = SandboxId.parse('a'.repeat(32))
const newId = (number: number) => SnapshotId.parse(`snap_${String(number).padStart(24, '0')}`)
const newRecord = (number: number): SnapshotRecord => ({
  ...{ id: newId(number), sandboxId, name: `no ${number}`, sizeBytes: 5, createdAtMs: number },
})

/** Snapshots on both engines of the store. */
describeStores('snapshots', (engine) => {
  test('are listed once complete, newest first, and found in their sandbox only', async () => {
    const store = await open(engine)
    const others = SandboxId.parse('b'.repeat(32))
    await store.write(async (tx) => {
      for (const number of [1, 3, 2]) await snapshotRepository.begin(tx, newRecord(number))
      await snapshotRepository.complete(tx, newId(1), 5)
      await snapshotRepository.complete(tx, newId(3), 0)
    })
    expect(await snapshotRepository.list(store.read, sandboxId)).toEqual([
      { ...newRecord(3), sizeBytes: 1 },
      newRecord(1),
    ])
    expect(await snapshotRepository.find(store.read, sandboxId, newId(1))).toEqual(newRecord(1))
    expect(await snapshotRepository.find(store.read, others, newId(1))).toBeUndefined()
    expect(await snapshotRepository.find(store.read, sandboxId, newId(2))).toBeUndefined()
    expect(await snapshotRepository.listIncomplete(store.read)).toEqual([{ ...newRecord(2), sizeBytes: 0 }])
    expect((await snapshotRepository.listIds(store.read)).sort()).toEqual([newId(1), newId(2), newId(3)])
  })

  test('are adopted once and never replace a known one', async () => {
    const store = await open(engine)
    await store.write((tx) => snapshotRepository.begin(tx, newRecord(1)))
    const adopted = await store.write(async (tx) => [
      await snapshotRepository.adopt(tx, newRecord(1)),
      await snapshotRepository.adopt(tx, newRecord(2)),
    ])
    expect(adopted).toEqual([false, true])
    expect(await snapshotRepository.list(store.read, sandboxId)).toEqual([newRecord(2)])
  })

  test('of 30 concurrent requests, as many create one as the limit allows', async () => {
    const store = await open(engine)
    await store.write(async (tx) => {
      for (let number = 1; number <= maxSnapshots - 2; number += 1)
        await snapshotRepository.adopt(tx, newRecord(number))
    })
    const { snapshots, calls } = create(store)
    const results = await Promise.allSettled(
      Array.from({ length: 30 }, () => snapshots.create(caller, sandboxId, 'late')),
    )
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(2)
    const codes = results.flatMap((result) => (result.status === 'rejected' ? [result.reason.code] : []))
    expect(codes).toEqual(Array.from({ length: 28 }, () => 'snapshot/too-many'))
    expect(calls.map(({ method }) => method)).toEqual(['snapshot.create', 'snapshot.create'])
    expect(await snapshotRepository.list(store.read, sandboxId)).toHaveLength(maxSnapshots)
  })

  test('leave nothing after the host failed to create one', async () => {
    const store = await open(engine)
    const { snapshots, calls, replies } = create(store)
    replies.set('snapshot.create', () => Promise.reject(new Error('disk full')))
    await expect(snapshots.create(caller, sandboxId, undefined)).rejects.toThrow('disk full')
    expect(calls.map(({ method }) => method)).toEqual(['snapshot.create', 'snapshot.delete'])
    expect(await snapshotRepository.listIds(store.read)).toEqual([])
  })

  test('of a restoration and 5 deletions at once, none uses the snapshot after its deletion', async () => {
    const store = await open(engine)
    const { snapshots, calls } = create(store)
    const { id } = await snapshots.create(caller, sandboxId, 'used')
    const results = await Promise.allSettled([
      snapshots.restore(caller, sandboxId, id),
      ...Array.from({ length: 5 }, () => snapshots.remove(caller, sandboxId, id)),
    ])
    const codes = results.flatMap((result) => (result.status === 'rejected' ? [result.reason.code] : []))
    const methods = calls.map(({ method }) => method)
    expect(methods.filter((method) => method !== 'snapshot.restore')).toEqual(['snapshot.create', 'snapshot.delete'])
    expect(methods.at(-1)).toBe('snapshot.delete')
    const isRestored = methods.includes('snapshot.restore')
    expect(codes).toEqual(Array.from({ length: isRestored ? 4 : 5 }, () => 'snapshot/not-found'))
  })

  test('a reconnect during a creation neither completes nor removes it', async () => {
    const store = await open(engine)
    const { snapshots, calls, replies, call } = create(store)
    const gate = Promise.withResolvers<void>()
    replies.set('snapshot.create', async () => {
      await gate.promise
      return { sizeBytes: 7 }
    })
    const creation = snapshots.create(caller, sandboxId, 'slow')
    await expect.poll(() => calls.length).toBe(1)
    const reconciliations = [snapshots.reconcile(call)]
    gate.resolve()
    for (let count = 0; count < 20; count += 1) reconciliations.push(snapshots.reconcile(call))
    await Promise.all(reconciliations)
    expect(await creation).toMatchObject({ name: 'slow', sizeBytes: 7 })
    expect(calls.map(({ method }) => method)).toEqual(['snapshot.create'])
  })

  test('a reconnect completes one whose files are complete and removes others', async () => {
    const store = await open(engine)
    const { snapshots, calls, replies, call } = create(store)
    await store.write(async (tx) => {
      for (const number of [1, 2]) await snapshotRepository.begin(tx, newRecord(number))
    })
    const label = { snapshots: [newRecord(1)] }
    replies.set('machine.stored', async () => ({ machines: [{ id: sandboxId, snapshots: [newId(1)], label }] }))
    await snapshots.reconcile(call)
    expect(await snapshotRepository.list(store.read, sandboxId)).toEqual([newRecord(1)])
    expect(await snapshotRepository.listIds(store.read)).toEqual([newId(1)])
    expect(calls).toEqual([
      { method: 'machine.stored', params: {} },
      { method: 'snapshot.delete', params: { sandboxId, snapshotId: newId(2), runtime: 'local' } },
    ])
  })
})

const caller = { accountId: ada } as Parameters<ReturnType<typeof createSnapshots>['create']>[0]
const sandbox = { id: sandboxId, accountId: ada, name: 'box', runtime: 'local' } as SandboxRecord

async function open(engine: StoreEngine): Promise<Store> {
  const { store } = await openServiceStore(engine)
  await seedAccounts(store, ada)
  await seedSandbox(store, ada, sandboxId)
  return store
}

/** Snapshots with a host that replies at once, and one queue for changes of the sandbox. */
function create(store: Store) {
  const queue = createKeyedQueue()
  const calls: { method: string; params: unknown }[] = []
  const replies = new Map<string, () => Promise<unknown>>([
    ['snapshot.create', async () => ({ sizeBytes: 5 })],
    ['machine.stored', async () => ({ machines: [] })],
  ])
  const call = (async (method: string, params: unknown) => {
    calls.push({ method, params })
    return { result: (await replies.get(method)?.()) ?? {}, body: Buffer.alloc(0) }
  }) as unknown as HostCall // replies to the methods of snapshots
  let count = 0
  const snapshots = createSnapshots({
    ...{ store, call, log: silentLog },
    sandboxes: {
      requireOwned: async () => sandbox,
      find: async () => sandbox,
      exclusively: (_, id, work) => queue.run(id, () => work(sandbox)),
      replaceFiles: (_, id, { replace }) => queue.run(id, () => replace(sandbox)).then(() => sandbox),
      create: async () => sandbox,
    },
    publish: () => {},
    note: () => {},
    newId: () => (count++).toString(16).padStart(24, 'f'),
    now: () => 1_000,
  })
  return { snapshots, calls, replies, call }
}
