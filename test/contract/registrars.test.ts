import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { createHttpClient } from '#platform/http/httpClient.ts'
import { createLocalRegistry } from '#service/domains/registrars/local/localRegistry.ts'
import { registryRepository } from '#service/domains/registrars/local/registryRepository.ts'
import { createNameComApi } from '#service/domains/registrars/namecom/nameComApi.ts'
import { createNameComRegistrar } from '#service/domains/registrars/namecom/nameComRegistrar.ts'
import { createNameSiloApi } from '#service/domains/registrars/namesilo/nameSiloApi.ts'
import { createNameSiloRegistrar } from '#service/domains/registrars/namesilo/nameSiloRegistrar.ts'
import type { Registrar, RegistrarError } from '#service/domains/registrars/registrar.ts'
import { migrate } from '#storage/migrate.ts'
import { serviceMigrations } from '#storage/migrations/serviceMigrations.ts'
import { openDatabase } from '#storage/sqlite/openDatabase.ts'
import { createSqliteStore } from '#storage/sqlite/sqliteStore.ts'
import { nameComLogin, nameComServer } from '../support/registrars/nameComServer.ts'
import { nameSiloKey, nameSiloServer } from '../support/registrars/nameSiloServer.ts'
import type { RegistrarTrouble } from '../support/registrars/registrarServer.ts'
import { type RegistrarWorld, registrarContract } from './registrar.ts'

registrarContract('the test registry', async (): Promise<RegistrarWorld> => {
  const database = openDatabase(':memory:')
  migrate(database, serviceMigrations)
  const store = createSqliteStore(database)
  const prices = [{ tld: 'com', registration: 1_095, renewal: 1_195, transfer: 1_095 }]
  const real = createLocalRegistry({ store, prices, now: Date.now })
  const billed: string[] = []
  const registrar: Registrar = {
    ...real,
    register: (order) => real.register(order).then(() => void billed.push(`register ${order.name}`)),
    renew: (order) => real.renew(order).then(() => void billed.push(`renew ${order.name}`)),
  }
  const domain = { registeredAtMs: 0, activeAtMs: 0, expiresAtMs: 4e12, privacy: true, locked: true, serial: 1 }
  return {
    registrar,
    async take(name) {
      await store.write((tx) => registryRepository.add(tx, { ...domain, name, nameservers: [] }))
    },
    billed: () => billed,
    close: async () => void database.close(),
  }
})

const settlesWithinMs = 60_000
const opened = { NameSilo: nameSilo, 'name.com': nameCom } as const

async function nameSilo(options: { apiKey?: string; url?: string } = {}) {
  const server = await nameSiloServer()
  const http = createHttpClient({ maxAnswerBytes: 1_000_000 })
  const api = createNameSiloApi({ http, url: options.url ?? server.url, apiKey: options.apiKey ?? nameSiloKey })
  const registrar = createNameSiloRegistrar({ api, paymentId: undefined, settlesWithinMs, now: Date.now })
  return world(server, http, registrar)
}
async function nameCom(options: { apiKey?: string; url?: string; recordsAPage?: number } = {}) {
  const server = await nameComServer(options)
  const http = createHttpClient({ maxAnswerBytes: 1_000_000 })
  const { username, token } = { ...nameComLogin, ...(options.apiKey && { token: options.apiKey }) }
  const api = createNameComApi({ http, url: options.url ?? server.url, username, token })
  return world(server, http, createNameComRegistrar({ api, settlesWithinMs, now: Date.now }))
}
type Server = Awaited<ReturnType<typeof nameSiloServer>> | Awaited<ReturnType<typeof nameComServer>>
function world<S extends Server>(server: S, http: { close(): void }, registrar: Registrar) {
  return {
    ...{ server, registrar, take: server.take, billed: () => server.billed },
    async close() {
      http.close()
      await server.close()
    },
  }
}

registrarContract('NameSilo', () => nameSilo())
registrarContract('name.com', () => nameCom({ recordsAPage: 3 }))

const orders = {
  NameSilo: { register: 'registerDomain', renew: 'renewDomain' },
  'name.com': { register: '/v4/domains', renew: ':renew' },
}
const catchError = (work: Promise<unknown>): Promise<RegistrarError> =>
  work.then(
    () => Promise.reject(new Error('It was done.')),
    (error) => error,
  )

describe.each(['NameSilo', 'name.com'] as const)('%s error handling', (title) => {
  const order = { years: 1, privacy: true, nameservers: undefined, price: { registration: 2_000, renewal: 2_000 } }
  const troubles: RegistrarTrouble['how'][] = ['cut', 'no-json', 502]

  test.each(troubles)('a lost order response (%s) has an unknown outcome that a query resolves', async (how) => {
    const { server, registrar, billed, close } = await opened[title]()
    try {
      for (const moves of [true, false]) {
        const name = `lost-${moves}.com`
        // name.com uses one path for orders and follow-up calls, so the error is injected only once the order arrives.
        if (title === 'name.com')
          server.pauses(
            async ({ path }) => void (path === '/v4/domains' && server.meets({ at: '/v4/domains', moves, how })),
          )
        else server.meets({ at: orders[title].register, moves, how })
        expect((await catchError(registrar.register({ ...order, name }))).kind).toBe('unclear')
        server.pauses(undefined)
        server.meets(undefined)
        expect((await registrar.find(name)) !== undefined).toBe(moves)
        expect(billed().filter((it) => it === `register ${name}`)).toHaveLength(moves ? 1 : 0)
      }
      server.meets({ at: orders[title].renew, moves: true, how })
      const renewed = registrar.renew({ name: 'lost-true.com', years: 1, amountCents: 9_000 })
      expect((await catchError(renewed)).kind).toBe('unclear')
      expect(billed().filter((it) => it === 'renew lost-true.com')).toHaveLength(1)
    } finally {
      await close()
    }
  })

  test.each(troubles)('a lost read response (%s) is an error rather than an empty result', async (how) => {
    const { server, registrar, close } = await opened[title]()
    try {
      const name = 'read.com'
      await registrar.register({ ...order, name })
      for (const ask of [() => registrar.find(name), () => registrar.records(name), () => registrar.check([name])]) {
        server.meets({ at: '/', moves: true, how })
        expect((await catchError(ask())).kind).toBe('unreachable')
      }
    } finally {
      await close()
    }
  })

  test('orders nothing when the connection is refused', async () => {
    const world = await opened[title]()
    await world.close()
    const { registrar, close } = await opened[title]({ url: world.server.url })
    try {
      expect((await catchError(registrar.setLocked('x.com', true))).kind).toBe('unreachable')
      expect((await catchError(registrar.register({ ...order, name: 'x.com' }))).kind).toBe('unreachable')
    } finally {
      await close()
    }
  })

  test('omits a rejected key from errors, even if the response repeats it', async () => {
    const apiKey = 'secret+key/of=ours'
    const { registrar, close } = await opened[title]({ apiKey })
    try {
      for (const ask of [registrar.find('x.com'), registrar.setLocked('x.com', true), registrar.prices()]) {
        const error = await catchError(ask)
        expect(error.kind).toBe('unreachable')
        const text = inspect(error, { depth: 20, showHidden: true })
        for (const secret of [apiKey, encodeURIComponent(apiKey), 'key=']) expect(text).not.toContain(secret)
        expect(error.message).toContain('rejected the account')
      }
    } finally {
      await close()
    }
  })

  test('errors contain no address or key', async () => {
    const { server, registrar, close } = await opened[title]()
    const key = title === 'NameSilo' ? nameSiloKey : nameComLogin.token
    const login = Buffer.from(`${nameComLogin.username}:${key}`).toString('base64')
    try {
      for (const how of troubles) {
        server.meets({ at: '/', moves: false, how })
        const text = inspect(await catchError(registrar.find('x.com')), { depth: 20, showHidden: true })
        for (const secret of [key, login, '127.0.0.1']) expect(text).not.toContain(secret)
      }
    } finally {
      await close()
    }
  })
})

test('leaves internal NameSilo records and unknown record types unchanged', async () => {
  const { server, registrar, close } = await nameSilo()
  try {
    const price = { registration: 2_000, renewal: 2_000 }
    await registrar.register({ name: 'odd.com', years: 1, privacy: true, nameservers: undefined, price })
    const row = { record_id: '1', host: 'odd.com', value: 'x', ttl: 7_207, distance: 0 }
    server.plant('odd.com', { ...row, type: 'HTTPS' })
    server.plant('odd.com', { ...row, record_id: '2', type: 'NS', value: 'ns1.dnsowl.com' })
    server.plant('odd.com', { ...row, record_id: '3', type: 'A', value: '192.0.2.7', ttl: 2_592_000 })
    expect(await registrar.records('odd.com')).toEqual([
      { id: '3', type: 'A', host: '@', value: '192.0.2.7', ttl: 2_592_000, distance: null },
    ])
  } finally {
    await close()
  }
})
