import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { silentLog } from '#platform/logging/log.ts'
import { AccountId } from '#shared/ids.ts'
import { migrate } from '#storage/migrate.ts'
import { serviceMigrations } from '#storage/migrations/serviceMigrations.ts'
import { type Database, openDatabase } from '#storage/sqlite/openDatabase.ts'
import { createSqliteStore } from '#storage/sqlite/sqliteStore.ts'
import { eventually } from '#test/support/assertions/eventually.ts'
import { createDomainOrders } from './domainOrders.ts'
import { createDomainRepository } from './domainRepository.ts'
import { createDomains } from './domains.ts'
import { createLocalRegistry } from './registrars/local/localRegistry.ts'
import { type Registrar, RegistrarError } from './registrars/registrar.ts'

/** Orders at a registrar that charges for every call, with failures and restarts. */
const ada = AccountId.parse('acc_ada')
let nowMs: number
let database: Database
/** Registrar calls that cost money. */
let billed: string[]
/** Orders that were reported as completed. */
let done: string[]
let flush: () => Promise<void>
let ids = 0

beforeEach(() => {
  nowMs = Date.UTC(2026, 0, 1)
  billed = []
  done = []
  flush = async () => {}
  database = openDatabase(':memory:')
  migrate(database, serviceMigrations)
  database.prepare('INSERT INTO accounts VALUES (?, ?, ?, ?)').run(ada, 'user', 'Ada', nowMs)
})
afterEach(() => database.close())

type Faults = Partial<Pick<Registrar, 'register' | 'renew' | 'find' | 'settlesWithinMs'>>

/** Opens the components on the same database, as after a service restart. */
function openOrders(faults: (real: Registrar) => Faults = () => ({})) {
  const records = createDomainRepository('local')
  const now = () => nowMs
  const store = createSqliteStore(database, { flush: () => flush() })
  const prices = [{ tld: 'com', registration: 1_095, renewal: 1_195, transfer: 1_095 }]
  const real = createLocalRegistry({ store, prices, now })
  const registry: Registrar = {
    ...real,
    register(order) {
      billed.push(`register ${order.name}`)
      return real.register(order)
    },
    renew(order) {
      billed.push(`renew ${order.name}`)
      return real.renew(order)
    },
  }
  const registrar = { ...registry, ...faults(registry) }
  const own = createDomains({ store, records, registrar, now, log: silentLog, onChanged: () => {} })
  const orders = createDomainOrders({
    ...{ store, domains: own, registrar },
    onDone: ({ type, domain }) => void done.push(`${type} ${domain}`),
    now,
    log: silentLog,
  })
  const register = (domain: string) =>
    orders.register({
      orderId: `pay_${ids++}`,
      accountId: ada,
      domain,
      years: 2,
      amountCents: 2_190,
      privacy: true,
      nameservers: undefined,
      price: { registration: 1_095, renewal: 1_195 },
    })
  const renew = (domain: string) =>
    orders.renew({ orderId: `pay_${ids++}`, accountId: ada, domain, years: 1, amountCents: 1_195 })
  const states = async () => (await orders.list(ada)).map(({ domain, type, state }) => `${type} ${domain} ${state}`)
  return { orders, own, real, register, renew, states }
}

const failing = (kind: RegistrarError['kind']) => () => Promise.reject(new RegistrarError(kind, 'It failed.'))

test('the registrar charges nothing before the order survives a power loss', async () => {
  const flushed = Promise.withResolvers<void>()
  flush = () => flushed.promise
  const { register, states } = openOrders()
  const ordered = register('example.com')
  await eventually(async () => expect(await states()).toEqual(['registration example.com asked']))
  expect(billed).toEqual([])
  flushed.resolve()
  await ordered
  expect([billed, done]).toEqual([['register example.com'], ['registration example.com']])
})

test('buys nothing when the order cannot be stored', async () => {
  flush = () => Promise.reject(new Error('The disk is full.'))
  const { register } = openOrders()
  await expect(register('example.com')).rejects.toMatchObject({ code: 'data/unavailable' })
  expect(billed).toEqual([])
})

test('registers a name and then renews it', async () => {
  const { register, renew, states, own: domains } = openOrders()
  const { domain } = await register('example.com')
  expect(domain).toMatchObject({ name: 'example.com', status: 'active', expiresAtMs: Date.UTC(2028, 0, 1) })
  expect((await renew('example.com')).domain.expiresAtMs).toBe(Date.UTC(2029, 0, 1))
  expect(await domains.list(ada)).toHaveLength(1)
  expect(await states()).toEqual(['renewal example.com done', 'registration example.com done'])
})

test.each([
  ['taken-at-purchase-x.com', 'domain/taken'],
  ['down-x.com', 'domain/registrar'],
  ['x.net', 'domain/state'],
])('registering %s fails with %s and adds no domain', async (name, code) => {
  const { register, states, own: domains } = openOrders()
  await expect(register(name)).rejects.toMatchObject({ code })
  expect(await states()).toEqual([`registration ${name} failed`])
  expect(await domains.list(ada)).toEqual([])
})

test('runs only one of two concurrent orders for a name', async () => {
  const { register } = openOrders()
  const both = await Promise.allSettled([register('example.com'), register('example.com')])
  expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  expect(both.find((it) => it.status === 'rejected')).toMatchObject({ reason: { code: 'domain/busy' } })
  expect(billed).toEqual(['register example.com'])
})

describe('a lost registrar response', () => {
  const loseReply = (real: Registrar): Faults => ({
    async register(order) {
      await real.register(order)
      throw new RegistrarError('unclear', 'The connection was cut.')
    },
    async renew(order) {
      await real.renew(order)
      throw new Error('socket hang up')
    },
  })

  test('is recovered by querying the domain', async () => {
    const { register, renew, states } = openOrders(loseReply)
    await register('example.com')
    await renew('example.com')
    expect(await states()).toEqual(['renewal example.com done', 'registration example.com done'])
    expect(billed).toEqual(['register example.com', 'renew example.com'])
  })

  test('of an order without effect marks the order as failed', async () => {
    const { register, states } = openOrders(() => ({ register: failing('unclear') }))
    await expect(register('example.com')).rejects.toMatchObject({ code: 'order/unknown-outcome' })
    expect(await states()).toEqual(['registration example.com failed'])
  })

  test('has an unknown outcome during registrar downtime, blocking orders until a later start', async () => {
    const down = (real: Registrar): Faults => ({
      ...loseReply(real),
      find: (name) => (billed.length === 0 ? real.find(name) : failing('unreachable')()),
    })
    const first = openOrders(down)
    await expect(first.register('example.com')).rejects.toMatchObject({ code: 'order/unknown-outcome', status: 503 })
    await expect(first.register('example.com')).rejects.toMatchObject({ code: 'domain/busy' })

    const second = openOrders(down)
    expect(await second.orders.recover()).toHaveLength(1)
    expect(await second.states()).toEqual(['registration example.com asked'])

    const third = openOrders()
    expect(await third.orders.recover()).toEqual([])
    expect(await third.states()).toEqual(['registration example.com done'])
    expect(await third.own.list(ada)).toHaveLength(1)
    expect(billed).toEqual(['register example.com'])
  })
})

describe('a process exit', () => {
  const never = () => new Promise<never>(() => {})

  test('before the registrar acts leaves nothing bought', async () => {
    const requested = Promise.withResolvers<void>()
    const register = () => {
      requested.resolve()
      return never()
    }
    void openOrders(() => ({ register })).register('example.com')
    await requested.promise
    const { orders, states, own: domains } = openOrders()
    expect(await orders.recover()).toEqual([])
    expect(await states()).toEqual(['registration example.com failed'])
    expect(await domains.list(ada)).toEqual([])
  })

  test('after the registrar acts leaves the name bought once', async () => {
    const done = Promise.withResolvers<void>()
    void openOrders((real) => ({
      async register(order) {
        await real.register(order)
        done.resolve()
        await never()
      },
    })).register('example.com')
    await done.promise
    const { orders, states, own: domains } = openOrders()
    expect(await orders.recover()).toEqual([])
    expect(await states()).toEqual(['registration example.com done'])
    expect(await domains.list(ada)).toHaveLength(1)
    expect(billed).toEqual(['register example.com'])
  })

  test('during a renewal is resolved by the expiry date', async () => {
    await openOrders().register('example.com')
    const requested = Promise.withResolvers<void>()
    const renew = () => {
      requested.resolve()
      return never()
    }
    void openOrders(() => ({ renew })).renew('example.com')
    await requested.promise
    const { orders, states } = openOrders()
    await orders.recover()
    expect((await states())[0]).toBe('renewal example.com failed')
  })
})

test('a name of another customer at this registrar is not claimed or ordered', async () => {
  await openOrders().register('example.com')
  const { register, states } = openOrders(() => ({ register: failing('unclear') }))
  await expect(register('example.com')).rejects.toMatchObject({ code: 'domain/taken' })
  expect((await states())[0]).toBe('registration example.com failed')
  expect(billed).toEqual(['register example.com'])
})

describe('a slow registrar', () => {
  const slow = (real: Registrar): Faults => ({
    settlesWithinMs: 10 * 60_000,
    register: failing('unclear'),
    renew: real.renew,
  })

  test('delays marking an order as failed and crediting it until the deadline', async () => {
    const { register, orders, states } = openOrders(slow)
    await expect(register('example.com')).rejects.toMatchObject({ code: 'order/unknown-outcome', status: 503 })
    expect(await states()).toEqual(['registration example.com asked'])
    await expect(orders.outcome('pay_slow')).resolves.toBeUndefined()
    nowMs += 9 * 60_000
    expect(await orders.recover()).toHaveLength(1)
    nowMs += 60_000
    expect(await orders.recover()).toEqual([])
    expect(await states()).toEqual(['registration example.com failed'])
  })

  test('completes the order eventually', async () => {
    const first = openOrders(slow)
    await expect(first.register('example.com')).rejects.toMatchObject({ code: 'order/unknown-outcome' })
    const late = { name: 'example.com', years: 2, privacy: true, nameservers: undefined }
    await first.real.register({ ...late, price: { registration: 1_095, renewal: 1_195 } })
    expect(await first.orders.recover()).toEqual([])
    expect(await first.states()).toEqual(['registration example.com done'])
    expect(billed).toEqual([])
  })
})

test('does not treat a renewal elsewhere as the ordered one', async () => {
  const first = openOrders(() => ({ renew: failing('unclear') }))
  await first.register('example.com')
  await first.real.renew({ name: 'example.com', years: 1, amountCents: 1_195 })
  await expect(first.renew('example.com')).rejects.toMatchObject({ code: 'order/unknown-outcome' })
  expect((await first.states())[0]).toBe('renewal example.com failed')
})
