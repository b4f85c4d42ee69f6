import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { silentLog } from '#platform/logging/log.ts'
import type { Caller } from '#service/base/endpoint.ts'
import type { HostCall } from '#service/host/hostCalls.ts'
import { foundSandboxRepository } from '#service/sandboxes/foundSandboxRepository.ts'
import { createSandboxRegistry, type SandboxRegistryOptions } from '#service/sandboxes/sandboxRegistry.ts'
import { sandboxRepository } from '#service/sandboxes/sandboxRepository.ts'
import { AppError } from '#shared/appError.ts'
import { ImageName } from '#shared/contract/images.ts'
import { AccountId, SandboxId } from '#shared/ids.ts'
import type { Store } from '#storage/store.ts'
import { openServiceStore, seedAccounts } from '../support/fixtures/serviceStore.ts'
import { describeStores, type StoreEngine } from '../support/fixtures/storeEngines.ts'

const [ada, bob] = [AccountId.parse('acc_ada'), AccountId.parse('acc_bob')]
const caller = { accountId: ada } as Caller

/** Sandboxes on both engines of the store, with a host in memory. */
describeStores('sandboxes', (engine) => {
  test('of 30 concurrent creations, as many succeed as may run', async () => {
    const { sandboxes, store, machines } = await open(engine, { maxActive: 7 })
    const results = await Promise.allSettled(Array.from({ length: 30 }, () => sandboxes.create(ada, request)))
    const codes = results.flatMap((result) => (result.status === 'rejected' ? [result.reason.code] : []))
    expect(codes).toEqual(Array.from({ length: 23 }, () => 'sandbox/capacity'))
    expect(await sandboxRepository.countActive(store.read)).toBe(7)
    expect(machines.size).toBe(7)
    expect((await sandboxes.list(ada)).map(({ status }) => status)).toEqual(Array.from({ length: 7 }, () => 'running'))
  })

  test('start, stop and delete at once leave the host and the database in one state', async () => {
    const { sandboxes, store, machines, published } = await open(engine)
    for (let round = 0; round < 6; round += 1) {
      const { id } = await sandboxes.create(ada, request)
      const actions = [
        () => sandboxes.start(caller, id),
        () => sandboxes.stop(caller, id),
        () => sandboxes.start(caller, id),
        () => sandboxes.remove(caller, id),
        () => sandboxes.change(caller, id, { name: `round ${round}` }),
        () => sandboxes.onEnded(id, 'It crashed.'),
      ]
      const rotated = [...actions.slice(round), ...actions.slice(0, round)]
      const results = await Promise.allSettled(rotated.map((act) => act()))
      const codes = results.flatMap((result) => (result.status === 'rejected' ? [result.reason.code] : []))
      expect(codes.filter((code) => code !== 'sandbox/not-found')).toEqual([])
      expect(await sandboxes.find(id)).toBeUndefined()
      expect(machines.has(id)).toBe(false)
      const events = published.filter((event) => event.id === id)
      expect(events.findIndex(({ type }) => type === 'sandbox.removed')).toBe(events.length - 1)
    }
    expect(await foundSandboxRepository.listMarked(store.read)).toEqual([])
  })

  test('20 concurrent starts start a sandbox once', async () => {
    const { sandboxes, calls, notes } = await open(engine)
    const { id } = await sandboxes.create(ada, request)
    await sandboxes.stop(caller, id)
    const started = await Promise.all(Array.from({ length: 20 }, () => sandboxes.start(caller, id)))
    expect(new Set(started.map(({ startedAtMs }) => startedAtMs)).size).toBe(1)
    expect(calls.filter((method) => method === 'machine.start')).toHaveLength(1)
    expect(notes).toEqual(['sandbox.created', 'sandbox.started', 'sandbox.stopped', 'sandbox.started'])
  })

  test('concurrent changes of different settings all apply', async () => {
    const { sandboxes, published } = await open(engine)
    const { id } = await sandboxes.create(ada, request)
    await Promise.all([
      sandboxes.change(caller, id, { name: 'renamed' }),
      sandboxes.change(caller, id, { idle_minutes: 5 }),
      sandboxes.change(caller, id, { network: 'internet' }),
      sandboxes.stop(caller, id),
    ])
    const changed = { name: 'renamed', idleMinutes: 5, network: 'internet', status: 'stopped', startedAtMs: null }
    expect(await sandboxes.find(id)).toMatchObject(changed)
    expect(published.at(-1)).toMatchObject({ type: 'sandbox.changed', name: 'renamed', status: 'stopped' })
  })

  test('a run that ends while it is being recorded is stopped', async () => {
    const { sandboxes, replies } = await open(engine)
    const { id } = await sandboxes.create(ada, request)
    await sandboxes.stop(caller, id)
    let ended: Promise<void> | undefined
    replies.set('machine.start', async () => {
      ended = sandboxes.onEnded(id, 'It crashed.')
    })
    await sandboxes.start(caller, id)
    await ended
    expect(await sandboxes.find(id)).toMatchObject({ status: 'stopped', statusReason: 'It crashed.' })
  })

  test('the end of the host stops the runs of that time, and not later ones', async () => {
    const { sandboxes } = await open(engine)
    const { id } = await sandboxes.create(ada, request)
    await sandboxes.onHostDown('crashed')
    expect(await sandboxes.find(id)).toMatchObject({ status: 'stopped', startedAtMs: null })
    const { startedAtMs } = await sandboxes.start(caller, id)
    expect(await sandboxes.find(id)).toMatchObject({ status: 'running', startedAtMs })
  })

  test('a failed creation leaves no record, and its files are deleted', async () => {
    const { sandboxes, store, calls, replies, published } = await open(engine)
    replies.set('machine.create', () => Promise.reject(new AppError('sandbox/start-failed', 'No disk.')))
    await expect(sandboxes.create(ada, request)).rejects.toMatchObject({ code: 'sandbox/start-failed' })
    expect(await sandboxes.list(ada)).toEqual([])
    expect(calls).toEqual(['machine.create', 'machine.delete'])
    expect(published.map(({ type }) => type)).toEqual(['sandbox.changed', 'sandbox.removed'])
    await expect.poll(() => foundSandboxRepository.listMarked(store.read)).toEqual([])
  })

  test('an image that is marked for removal during a creation is not used', async () => {
    const { sandboxes, calls } = await open(engine, {
      images: {
        ready: async () => ({ runtime: 'local' }) as never,
        requireStored() {
          throw new AppError('image/not-ready', 'The image is being removed.')
        },
      },
    })
    const withImage = { ...request, image: ImageName.parse('tools') }
    await expect(sandboxes.create(ada, withImage)).rejects.toMatchObject({ code: 'image/not-ready' })
    expect(await sandboxes.list(ada)).toEqual([])
    expect(calls).toEqual(['machine.delete'])
  })

  test('a sandbox with a purchase is not deleted, and 10 concurrent deletions of another delete it once', async () => {
    const leased = new Set<SandboxId>()
    const { sandboxes, store, notes } = await open(engine, { isLeased: async (_, id) => leased.has(id) })
    const [leasedSandbox, other] = [await sandboxes.create(ada, request), await sandboxes.create(ada, request)]
    leased.add(leasedSandbox.id)
    await expect(sandboxes.remove(caller, leasedSandbox.id)).rejects.toMatchObject({ code: 'sandbox/busy' })
    expect(await foundSandboxRepository.listMarked(store.read)).toEqual([])
    const results = await Promise.allSettled(Array.from({ length: 10 }, () => sandboxes.remove(caller, other.id)))
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect((await sandboxes.list(ada)).map(({ id }) => id)).toEqual([leasedSandbox.id])
    expect(notes.filter((type) => type === 'sandbox.deleted')).toHaveLength(1)
  })

  test('other accounts find nothing, and newer sandboxes are listed first', async () => {
    const { sandboxes } = await open(engine)
    const created = [await sandboxes.create(ada, request), await sandboxes.create(ada, request)]
    const [first] = created
    const others = { accountId: bob } as Caller
    await expect(sandboxes.requireOwned(others, first?.id ?? unknownId)).rejects.toMatchObject({
      code: 'sandbox/not-found',
    })
    await expect(sandboxes.change(others, first?.id ?? unknownId, { name: 'theirs' })).rejects.toMatchObject({
      code: 'sandbox/not-found',
    })
    expect(await sandboxes.list(bob)).toEqual([])
    expect((await sandboxes.list(ada)).map(({ id }) => id)).toEqual(created.map(({ id }) => id).reverse())
    expect(await sandboxes.findAccount(first?.id ?? unknownId)).toBe(ada)
  })

  test('of 10 concurrent adoptions, one succeeds, with its contents or not at all', async () => {
    const { sandboxes, store } = await open(engine)
    const record = { ...(await sandboxes.create(ada, request)), id: unknownId, name: 'found' }
    const failed = sandboxes.adopt(record, () => Promise.reject(new Error('no contents')))
    await expect(failed).rejects.toThrow('no contents')
    expect(await sandboxes.find(unknownId)).toBeUndefined()
    const results = await Promise.allSettled(
      Array.from({ length: 10 }, () =>
        sandboxes.adopt(record, (tx) => foundSandboxRepository.markRemoval(tx, unknownId, 1)),
      ),
    )
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(await foundSandboxRepository.listMarked(store.read)).toEqual([unknownId])
  })

  test('a connection reconciles the records with the sandboxes of the host', async () => {
    const { sandboxes, store, machines, call } = await open(engine)
    const [lost, moved, marked] = [
      await sandboxes.create(ada, request),
      await sandboxes.create(ada, request),
      await sandboxes.create(ada, request),
    ]
    machines.delete(lost.id)
    machines.set(moved.id, 77)
    machines.set(unknownId, 88)
    await store.write((tx) => foundSandboxRepository.markRemoval(tx, marked.id, 1))
    await sandboxes.reconcile(call)
    expect(await sandboxes.find(lost.id)).toMatchObject({ status: 'stopped', startedAtMs: null })
    expect(await sandboxes.find(moved.id)).toMatchObject({ status: 'running', startedAtMs: 77 })
    expect(await sandboxes.find(marked.id)).toBeUndefined()
    expect(await foundSandboxRepository.listMarked(store.read)).toEqual([])
    expect([...machines.keys()]).toEqual([moved.id])
  })
})

const unknownId = SandboxId.parse('f'.repeat(32))
type CreateRequest = Parameters<ReturnType<typeof createSandboxRegistry>['create']>[1]
const request: CreateRequest = {
  ...{ vcpu: 1, memory_mb: 512, disk_gb: 1, region: 'eu-north', idle_minutes: null },
  network: 'none',
}

/** The host starts and ends machines at once. A reply may run work or fail before that. */
async function open(engine: StoreEngine, overrides: Partial<SandboxRegistryOptions> = {}) {
  const { store }: { store: Store } = await openServiceStore(engine)
  await seedAccounts(store, ada, bob)
  const clock = { nowMs: 1_000 }
  const machines = new Map<SandboxId, number>()
  const replies = new Map<string, () => Promise<unknown>>()
  const [calls, notes]: [string[], string[]] = [[], []]
  const published: { type: string; id: SandboxId; name?: string; status?: string }[] = []
  const enforced = { memory: false, cpu: false, disk: false, processes: false }
  const call = (async (method: string, params: { id?: SandboxId; sandboxId?: SandboxId }) => {
    calls.push(method)
    await replies.get(method)?.()
    const id = params.id ?? params.sandboxId ?? unknownId
    const startedAtMs = ++clock.nowMs
    if (method === 'machine.create' || method === 'machine.start') machines.set(id, startedAtMs)
    if (method === 'machine.stop' || method === 'machine.delete') machines.delete(id)
    const list = [...machines].map(([machineId, atMs]) => ({ id: machineId, startedAtMs: atMs, enforced }))
    return { result: { id, startedAtMs, enforced, machines: list }, body: Buffer.alloc(0) }
  }) as unknown as HostCall // replies to the methods of the registry
  const sandboxes = createSandboxRegistry({
    ...{ store, call, log: silentLog, maxActive: 100, defaultNetwork: 'none' },
    isLeased: async () => false,
    runtimes: {
      choose: async () => ({ name: 'local', networks: ['none'] }),
    } as unknown as SandboxRegistryOptions['runtimes'],
    images: { ready: () => Promise.reject(new Error('no images')), requireStored: () => {} },
    async publish(_, event) {
      if (event.type === 'sandbox.changed')
        published.push({ ...event.sandbox, type: event.type, id: SandboxId.parse(event.sandbox.id) })
      if (event.type === 'sandbox.removed') published.push({ type: event.type, id: SandboxId.parse(event.id) })
    },
    note: (_, { type }) => void notes.push(type),
    recordForAccount: (_, { type }) => void notes.push(type),
    toWire: async ({ id, name, status }) => ({ id, name, status }) as never,
    assertCredits: async () => {},
    newId: () => randomBytes(16).toString('hex'),
    now: () => ++clock.nowMs,
    ...overrides,
  })
  return { sandboxes, store, call, calls, machines, notes, published, replies }
}
