import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { ModelCommand } from '#shared/contract/supervision.ts'
import { migrate } from '#storage/migrate.ts'
import { agentMigrations } from '#storage/migrations/agent/agentMigrations.ts'
import { openDatabase } from '#storage/sqlite/openDatabase.ts'
import { temporaryFolder } from '#test/support/fixtures/temporaryFolder.ts'
import { createModelServerProbe } from './modelServerProbe.ts'
import { createModelServerRepository } from './modelServerRepository.ts'
import { createModelServers } from './modelServers.ts'
import type { ProviderKeyStore } from './providerKeyStore.ts'

async function serving(answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` // the server listens on TCP
}

const listing =
  (...ids: string[]): RequestListener =>
  (_, answer) =>
    answer.end(JSON.stringify({ data: ids.map((id) => ({ id })) }))

function createKeyStore(): ProviderKeyStore {
  const keys = new Map<string, string>()
  return {
    findKey: (slot) => keys.get(slot),
    about: (slot) => (keys.has(slot) ? { place: 'file', ends_with: null, set_at: null, fault: null } : null),
    store: async (slot, key) => void keys.set(slot, key),
    remove: async (slot) => keys.delete(slot),
    readAgain: async () => {},
    storage: async () => ({ kind: 'file', name: '', detail: '' }),
  }
}

function openServers({
  places: endpoints = [] as { name: string; title: string; baseUrl: string }[],
  isHosted = false,
} = {}) {
  const database = openDatabase(join(temporaryFolder('servers'), 'agent.sqlite'))
  migrate(database, agentMigrations)
  const { probe, close } = createModelServerProbe()
  onTestFinished(() => {
    close()
    database.close()
  })
  const orders: ModelCommand[] = []
  const keys = createKeyStore()
  let ids = 0
  const servers = createModelServers({
    repository: createModelServerRepository(database),
    keyStore: keys,
    probe,
    configured: ['configured'],
    endpoints,
    notifyService: isHosted ? undefined : (order) => orders.push(order),
    events: { publish: () => {} },
    recordActivity: () => {},
    newId: () => (ids++).toString(16).padStart(24, '0'),
    now: () => Date.UTC(2026, 0, 1),
  })
  return { servers, orders, keys }
}

test('finds only servers that list models', async () => {
  const good = await serving(listing('llama3.2'))
  const page = await serving((_, answer) => answer.end('<html>A router</html>'))
  const closed = await serving((_, answer) => answer.writeHead(401).end())
  const endpoints = [good, page, closed, 'http://127.0.0.1:9/v1'].map((baseUrl, index) => {
    return { name: `at-${index}`, title: `At ${index}`, baseUrl }
  })
  const { servers, orders } = openServers({ places: endpoints })
  const response = { name: 'at-0', title: 'At 0', base_url: good, models: ['llama3.2'] }
  expect(await servers.find()).toEqual([{ ...response, added: false }])
  expect(orders).toEqual([])
  await servers.add({ name: 'at-0', baseUrl: good })
  expect(await servers.find()).toEqual([{ ...response, added: true }])
})

test('sends all servers to the service on each change', async () => {
  let models = ['one']
  const baseUrl = await serving((request, answer) => listing(...models)(request, answer))
  const { servers, orders } = openServers()
  const { id } = await servers.add({ name: 'mine', baseUrl })
  const sentServer = { name: 'mine', base_url: baseUrl, api_key: null, free: true, prices: {} }
  expect(orders.at(-1)).toEqual({ event: 'local-models', servers: [{ ...sentServer, models: ['one'] }] })
  models = ['one', 'two']
  await servers.refresh(id)
  await servers.setKey(id, 'a-key-of-mine')
  expect(orders.at(-1)).toEqual({
    event: 'local-models',
    servers: [{ ...sentServer, api_key: 'a-key-of-mine', models: ['one', 'two'] }],
  })
  await servers.remove(id)
  expect(orders.at(-1)).toEqual({ event: 'local-models', servers: [] })
  await expect(servers.refresh(id)).rejects.toMatchObject({ code: 'model-server/not-found' })
})

test('removes the key of a server with it', async () => {
  const { servers, keys } = openServers()
  const { id } = await servers.add({ name: 'box', baseUrl: await serving(listing('one')) })
  await servers.setKey(id, 'secret-key')
  expect(keys.findKey(id)).toBe('secret-key')
  await servers.remove(id)
  expect(keys.findKey(id)).toBeUndefined()
})

test('a server retains its models after a later error', async () => {
  let isBroken = false
  const baseUrl = await serving((request, answer) =>
    isBroken ? answer.end('<html>') : listing('one')(request, answer),
  )
  const { servers } = openServers()
  const { id } = await servers.add({ name: 'mine', baseUrl })
  isBroken = true
  await expect(servers.refresh(id)).rejects.toMatchObject({ code: 'model-server/unreachable' })
  expect(servers.get(id).models).toEqual(['one'])
})

test('rejects a duplicate name or address and reports the owner', async () => {
  const baseUrl = await serving(listing('one'))
  const { servers } = openServers()
  await servers.add({ name: 'mine', baseUrl })
  for (const name of ['mine', 'configured']) {
    await expect(servers.add({ name, baseUrl: `${baseUrl}/else` })).rejects.toMatchObject({
      code: 'model-server/exists',
      message: `There is already a server named “${name}”.`,
    })
  }
  await expect(servers.add({ name: 'other', baseUrl })).rejects.toThrow('already added as “mine”')
})

test('rejects servers for a remote service', async () => {
  const { servers } = openServers({ isHosted: true })
  expect(servers.list()).toEqual({ managed_by: 'operator', servers: [] })
  await expect(servers.add({ name: 'mine', baseUrl: 'http://127.0.0.1:9/v1' })).rejects.toMatchObject({
    code: 'provider-key/remote-service',
  })
})

test('a server on the internet has a listed or unknown price but never zero', async () => {
  const list = {
    data: [
      { id: 'paid/listed', pricing: { prompt: '0.00000015', completion: '0.0000006', image: '0' } },
      { id: 'paid/odd', pricing: { prompt: '-1', completion: 'free' } },
      { id: 'paid/plain' },
    ],
  }
  const baseUrl = await serving((_, answer) => answer.end(JSON.stringify(list)))
  const { servers, orders } = openServers()
  const readSentServer = () => {
    const order = orders.at(-1)
    return order?.event === 'local-models' ? order.servers[0] : undefined
  }
  const { id, ...added } = await servers.add({ name: 'router', baseUrl, isFree: false })
  const listed = { input_per_million: 0.15, output_per_million: 0.6 }
  expect(added).toMatchObject({ free: false, price: null, listed_prices: { 'paid/listed': listed } })
  expect(readSentServer()).toMatchObject({ free: false, prices: { 'paid/listed': listed } })

  const price = { input_per_million: 1, output_per_million: 2 }
  await servers.change(id, { price })
  expect(readSentServer()?.prices).toEqual({ 'paid/listed': listed, 'paid/odd': price, 'paid/plain': price })
  await servers.refresh(id)
  expect(servers.get(id)).toMatchObject({ free: false, price })
  await servers.change(id, { isFree: true })
  expect(readSentServer()).toMatchObject({ free: true, prices: {} })
})

test('a server is free or paid by its address unless configured', async () => {
  const baseUrl = await serving(listing('one'))
  const { servers } = openServers()
  expect((await servers.add({ name: 'here', baseUrl })).free).toBe(true)
})
