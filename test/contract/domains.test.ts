import { expect, test } from 'vitest'
import { silentLog } from '#platform/logging/log.ts'
import { createDomainOrders } from '#service/domains/domainOrders.ts'
import { createDomainRepository } from '#service/domains/domainRepository.ts'
import { createDomains } from '#service/domains/domains.ts'
import { type Order, orderRepository } from '#service/domains/orderRepository.ts'
import { orphanedDomainRepository } from '#service/domains/orphanedDomainRepository.ts'
import { createOrphanedDomains } from '#service/domains/orphanedDomains.ts'
import { createLocalRegistry } from '#service/domains/registrars/local/localRegistry.ts'
import { type Registrar, RegistrarError } from '#service/domains/registrars/registrar.ts'
import { createZones } from '#service/domains/zones.ts'
import { sandboxDomainRepository } from '#service/sandboxDomains/sandboxDomainRepository.ts'
import { AccountId, SandboxId } from '#shared/ids.ts'
import { defineStatement, type Store } from '#storage/store.ts'
import type { Params } from '#storage/table.ts'
import { openServiceStore, seedAccounts, seedSandbox } from '../support/fixtures/serviceStore.ts'
import { describeStores, type StoreEngine } from '../support/fixtures/storeEngines.ts'

/** Domains, their orders, zones and orphaned names, on both engines of the store. */
const [ada, bob] = [AccountId.parse('acc_ada'), AccountId.parse('acc_bob')]
const sandboxId = SandboxId.parse('a'.repeat(32))
const startMs = Date.UTC(2026, 0, 1)
const twenty = Array.from({ length: 20 }, (_, index) => index)

describeStores('domain orders', (engine) => {
  test('a registration and a renewal are stored, newest first', async () => {
    const { orders, domains, renew, register, done } = await open(engine)
    await register('example.com', { orderId: 'pay_1' })
    const { domain } = await renew('example.com', 'pay_2')
    expect(domain).toEqual({
      ...{
        name: 'example.com',
        accountId: ada,
        status: 'active',
        registeredAtMs: startMs,
        privacy: true,
        locked: true,
      },
      ...{ expiresAtMs: Date.UTC(2029, 0, 1), autoRenew: false, readAtMs: startMs, failedAtMs: null, leftAtMs: null },
      nameservers: ['ns1.registry.steward.test', 'ns2.registry.steward.test'],
    })
    expect(await domains.list(ada)).toEqual([{ ...domain, source: 'cache' }])
    const order: Order = {
      ...{ id: 'pay_1', accountId: ada, domain: 'example.com', type: 'registration', years: 2, amountCents: 2_190 },
      ...{ expiresBeforeMs: null, state: 'done', createdAtMs: startMs, registrar: 'local' },
    }
    const renewal = { ...order, id: 'pay_2', type: 'renewal', years: 1, amountCents: 1_195 }
    expect(await orders.list(ada)).toEqual([{ ...renewal, expiresBeforeMs: Date.UTC(2028, 0, 1) }, order])
    expect(await orders.list(bob)).toEqual([])
    expect(await orders.outcome('pay_2')).toEqual({ orderId: 'pay_2', domain })
    expect(done).toEqual(['pay_1', 'pay_2'])
  })

  test('of 20 concurrent orders for a name by two accounts, one reaches the registrar', async () => {
    const { register, billed, orders } = await open(engine)
    const results = await Promise.allSettled(
      twenty.map((index) =>
        register('example.com', { orderId: `pay_${index}`, accountId: index % 2 === 0 ? ada : bob }),
      ),
    )
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(billed).toEqual(['register example.com'])
    const codes = results.flatMap((result) => (result.status === 'rejected' ? [result.reason.code] : []))
    expect(codes.every((code) => code === 'domain/busy' || code === 'domain/taken')).toBe(true)
    const states = [...(await orders.list(ada)), ...(await orders.list(bob))].map(({ state }) => state)
    expect(states.filter((state) => state === 'done')).toHaveLength(1)
  })

  test('20 concurrent orders for different names have distinct positions in the list', async () => {
    const { register, orders, store } = await open(engine)
    await Promise.all(twenty.map((index) => register(`name-${index}.com`, { orderId: `pay_${index}` })))
    expect((await orders.list(ada)).map(({ state }) => state)).toEqual(Array(20).fill('done'))
    expect(await store.read.all(listSequences)).toEqual(twenty.map((index) => index + 1))
  })

  test('the order is stored as sent to the registrar before the registrar is called', async () => {
    const states: (string | undefined)[] = []
    const { register } = await open(engine, ({ store, real }) => ({
      async register(order) {
        states.push((await orderRepository.find(store.read, 'pay_1'))?.state)
        await real.register(order)
      },
    }))
    await register('example.com', { orderId: 'pay_1' })
    expect(states).toEqual(['asked'])
  })

  test('an order that another process took for abandoned buys nothing', async () => {
    const { register, billed, orders, store } = await open(engine, ({ store, real }) => ({
      async find(name) {
        const change = { from: 'leased', to: 'failed' } as const
        await store.write((tx) => orderRepository.changeState(tx, 'pay_1', change))
        return real.find(name)
      },
    }))
    await expect(register('example.com', { orderId: 'pay_1' })).rejects.toMatchObject({ code: 'domain/busy' })
    expect(billed).toEqual([])
    expect(await orders.outcome('pay_1')).toBeUndefined()
    expect(await orderRepository.listOpen(store.read, 'local')).toEqual([])
  })

  test('an order that 20 requests recover at once is completed and reported once', async () => {
    const { register, orders, done } = await open(engine, ({ real }) => {
      let isDown = false
      return {
        async register(order) {
          await real.register(order)
          isDown = true
          throw new RegistrarError('unclear', 'The connection was cut.')
        },
        async find(name) {
          if (!isDown) return real.find(name)
          isDown = false
          throw new RegistrarError('unreachable', 'It is down.')
        },
      }
    })
    await expect(register('example.com', { orderId: 'pay_1' })).rejects.toMatchObject({ code: 'order/unknown-outcome' })
    expect(done).toEqual([])
    const results = await Promise.all(twenty.map(() => orders.outcome('pay_1')))
    expect(results.map((result) => result?.domain.name)).toEqual(Array(20).fill('example.com'))
    expect(done).toEqual(['pay_1'])
  })
})

describeStores('stored domains', (engine) => {
  test('a domain that left the account is marked once, and returns', async () => {
    let isMissing = false
    const { register, domains, store, records, changes, removed } = await open(engine, ({ real }) => ({
      find: async (name) => (isMissing ? undefined : real.find(name)),
    }))
    await register('example.com', { orderId: 'pay_1' })
    changes.length = 0
    isMissing = true
    await Promise.allSettled(twenty.map(() => domains.refresh({ accountId: ada, name: 'example.com' })))
    expect(changes).toEqual([ada])
    expect(await records.find(store.read, 'example.com')).toMatchObject({ leftAtMs: startMs, readAtMs: startMs })
    expect(await removed()).toEqual(['example.com'])
    isMissing = false
    await domains.refresh({ accountId: ada, name: 'example.com' })
    expect(await records.find(store.read, 'example.com')).toMatchObject({ leftAtMs: null })
  })

  test('a late refresh does not take the domain back from the account that bought it', async () => {
    const refreshed = Promise.withResolvers<void>()
    let isSlow = false
    const { register, domains, store, records } = await open(engine, ({ real }) => ({
      async find(name) {
        const isLate = isSlow
        const domain = await real.find(name)
        if (isLate) await refreshed.promise
        return domain
      },
    }))
    await register('example.com', { orderId: 'pay_1' })
    isSlow = true
    const late = domains.refresh({ accountId: ada, name: 'example.com' })
    isSlow = false
    await domains.acquire({ accountId: bob, name: 'example.com' })
    refreshed.resolve()
    await expect(late).rejects.toMatchObject({ code: 'domain/not-found' })
    expect(await records.find(store.read, 'example.com')).toMatchObject({ accountId: bob })
    await expect(domains.get(ada, 'example.com')).rejects.toMatchObject({ code: 'domain/not-found' })
  })

  test('20 concurrent records of a zone are all added, and the cache is dropped', async () => {
    const { register, zones } = await open(engine)
    await register('example.com', { orderId: 'pay_1' })
    const zone = { accountId: ada, name: 'example.com' }
    expect(await zones.list(zone, { fresh: false })).toMatchObject({ source: 'live', records: [] })
    expect(await zones.list(zone, { fresh: false })).toMatchObject({ source: 'cache', records: [] })
    const add = (index: number) =>
      zones.add(zone, { type: 'A', host: `host-${index}`, value: '192.0.2.1', ttl: 300, distance: undefined })
    await Promise.all(twenty.map(add))
    const listed = await zones.list(zone, { fresh: false })
    expect(listed.source).toBe('live')
    expect(listed.records.map(({ host }) => host).sort()).toEqual(twenty.map((index) => `host-${index}`).sort())
    await expect(add(3)).rejects.toMatchObject({ code: 'dns/conflict' })
    await expect(zones.list({ ...zone, accountId: bob }, { fresh: true })).rejects.toMatchObject({
      code: 'domain/not-found',
    })
  })

  test('records that were read before a change are not cached after it', async () => {
    const [reached, waiting] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    let isSlow = false
    const { register, zones } = await open(engine, ({ real }) => ({
      async records(name) {
        const records = await real.records(name)
        if (isSlow) {
          reached.resolve()
          await waiting.promise
        }
        return records
      },
    }))
    await register('example.com', { orderId: 'pay_1' })
    const zone = { accountId: ada, name: 'example.com' }
    isSlow = true
    const late = zones.list(zone, { fresh: true })
    await reached.promise
    isSlow = false
    await zones.add(zone, { type: 'A', host: 'www', value: '192.0.2.1', ttl: 300, distance: undefined })
    waiting.resolve()
    expect((await late).records).toEqual([])
    expect((await zones.list(zone, { fresh: false })).records).toMatchObject([{ host: 'www' }])
  })
})

describeStores('orphaned domains', (engine) => {
  test('names of a deleted sandbox are listed while the account owns their domain', async () => {
    const { store, orphans, entries, pointTo, register } = await open(engine)
    await register('example.com', { orderId: 'pay_1' })
    await pointTo(sandboxId, ['www.example.com', 'elsewhere.net'])
    await store.write((tx) => tx.run(deleteSandbox, { id: sandboxId }))
    await orphans.sandboxRemoved(ada, sandboxId)
    const orphan = { domain: 'www.example.com', accountId: ada, sandboxId, sandboxName: sandboxId }
    expect(await orphans.list(ada)).toEqual([orphan])
    expect(entries).toEqual([`Left DNS records of www.example.com that point to the deleted sandbox ${sandboxId}`])
    expect(await orphans.records({ accountId: ada, name: 'example.com' })).toEqual([])
    expect(await orphans.list(ada)).toEqual([])
  })

  test('records of an orphaned name are removed once', async () => {
    const { store, orphans, zones, pointTo, register } = await open(engine)
    await register('example.com', { orderId: 'pay_1' })
    const zone = { accountId: ada, name: 'example.com' }
    const record = { type: 'A', value: '192.0.2.1', ttl: 300, distance: undefined } as const
    for (const host of ['www', 'other']) await zones.add(zone, { ...record, host })
    await pointTo(sandboxId, ['www.example.com'])
    await store.write((tx) => tx.run(deleteSandbox, { id: sandboxId }))
    expect((await orphans.removeRecords(zone)).map(({ host }) => host)).toEqual(['www'])
    expect((await zones.list(zone, { fresh: true })).records).toMatchObject([{ host: 'other' }])
    expect(await orphans.list(ada)).toEqual([])
  })

  test('a name that a later sandbox orphaned again stays listed', async () => {
    const { store, pointTo } = await open(engine)
    const next = SandboxId.parse('b'.repeat(32))
    await pointTo(sandboxId, ['www.example.com'])
    await store.write((tx) => tx.run(deleteSandbox, { id: sandboxId }))
    const [first] = await orphanedDomainRepository.list(store.read, ada)
    await pointTo(next, ['www.example.com'])
    expect(await orphanedDomainRepository.list(store.read, ada)).toEqual([])
    await store.write((tx) => tx.run(deleteSandbox, { id: next }))
    await store.write(async (tx) => first && orphanedDomainRepository.remove(tx, first))
    expect(await orphanedDomainRepository.list(store.read, ada)).toMatchObject([{ sandboxId: next }])
  })
})

const deleteSandbox = defineStatement<Params<'id'>>('DELETE FROM sandboxes WHERE id = @id')
const listSequences = defineStatement('SELECT sequence FROM domain_orders ORDER BY sequence').withRows((row) =>
  Number(row.sequence),
)
const listRemoved = defineStatement('SELECT thing FROM removed_things ORDER BY sequence').withRows(({ thing }) =>
  String(thing),
)

type Faults = Partial<Pick<Registrar, 'register' | 'find' | 'records'>>

async function open(
  engine: StoreEngine,
  createFaults: (world: { store: Store; real: Registrar }) => Faults = () => ({}),
) {
  const { store } = await openServiceStore(engine)
  await seedAccounts(store, ada, bob)
  const now = () => startMs
  const prices = [{ tld: 'com', registration: 1_095, renewal: 1_195, transfer: 1_095 }]
  const real = createLocalRegistry({ store, prices, now })
  const billed: string[] = []
  const counted: Registrar = {
    ...real,
    register(order) {
      billed.push(`register ${order.name}`)
      return real.register(order)
    },
  }
  const registrar = { ...counted, ...createFaults({ store, real: counted }) }
  const records = createDomainRepository('local')
  const [changes, done, entries]: [AccountId[], string[], string[]] = [[], [], []]
  const onChanged = (accountId: AccountId) => void changes.push(accountId)
  const domains = createDomains({ ...{ store, records, registrar, now, onChanged }, log: silentLog })
  const orders = createDomainOrders({
    ...{ store, domains, registrar, now, log: silentLog },
    onDone: ({ id }) => void done.push(id),
  })
  const zones = createZones({
    ...{ store, records, domains, registrar, now },
    onChanged: () => {},
    onRemoved: async () => {},
  })
  const orphans = createOrphanedDomains({
    ...{ store, zones, onChanged, sandboxHost: undefined },
    addresses: async () => [{ type: 'A', value: '192.0.2.1' }],
    ownsDomain: async (query, accountId, name) => {
      const row = await records.find(query, name.split('.').slice(-2).join('.'))
      return row?.accountId === accountId
    },
    recordForAccount: (_, { description }) => void entries.push(description),
  })
  return {
    ...{ store, records, domains, orders, zones, orphans, changes, done, entries, billed },
    removed: () => store.read.all(listRemoved),
    register: (domain: string, { orderId, accountId = ada }: { orderId: string; accountId?: AccountId }) =>
      orders.register({
        ...{ orderId, accountId, domain, years: 2, amountCents: 2_190, privacy: true, nameservers: undefined },
        price: { registration: 1_095, renewal: 1_195 },
      }),
    renew: (domain: string, orderId: string) =>
      orders.renew({ orderId, accountId: ada, domain, years: 1, amountCents: 1_195 }),
    async pointTo(id: SandboxId, names: readonly string[]) {
      await seedSandbox(store, ada, id)
      for (const domain of names) {
        await store.write((tx) =>
          sandboxDomainRepository.save(tx, { domain, sandboxId: id, port: null, createdAtMs: 1 }),
        )
      }
    },
  }
}
