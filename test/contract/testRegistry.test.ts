import { expect, test } from 'vitest'
import { createLocalRegistry, registryNameservers } from '#service/domains/registrars/local/localRegistry.ts'
import { registryRepository } from '#service/domains/registrars/local/registryRepository.ts'
import type { DnsRecordData } from '#shared/dns/dnsRecord.ts'
import { openServiceStore } from '../support/fixtures/serviceStore.ts'
import { describeStores, type StoreEngine } from '../support/fixtures/storeEngines.ts'

/** The test registry, on both engines of the store. */
const startMs = Date.UTC(2026, 0, 1)
const order = {
  ...{ name: 'example.com', years: 2, privacy: true, nameservers: undefined },
  price: { registration: 1_095, renewal: 1_195 },
}
const record = (host: string): DnsRecordData => ({ type: 'A', host, value: '192.0.2.1', ttl: 300, distance: null })

describeStores('test registry', (engine) => {
  test('a registered domain is stored with all of its values', async () => {
    const { registry, findSerial } = await open(engine)
    await registry.register(order)
    expect(await registry.find('example.com')).toEqual({
      ...{ name: 'example.com', status: 'active', registeredAtMs: startMs, expiresAtMs: Date.UTC(2028, 0, 1) },
      ...{ autoRenew: false, privacy: true, locked: true, nameservers: registryNameservers },
    })
    expect(await findSerial()).toBe(1)
    await registry.setPrivacy('example.com', false)
    await registry.setLocked('example.com', false)
    await registry.setNameservers('example.com', ['ns1.example.net'])
    expect(await registry.find('example.com')).toMatchObject({
      ...{ privacy: false, locked: false, nameservers: ['ns1.example.net'], expiresAtMs: Date.UTC(2028, 0, 1) },
    })
    expect(await findSerial()).toBe(4)
  })

  test('of 20 concurrent registrations of a name, one succeeds', async () => {
    const { registry } = await open(engine)
    const results = await Promise.allSettled(Array.from({ length: 20 }, () => registry.register(order)))
    const refused = results.filter((result) => result.status === 'rejected').map(({ reason }) => reason.kind)
    expect(refused).toEqual(Array(19).fill('taken'))
  })

  test('concurrent renewals each extend the domain, up to ten years', async () => {
    const { registry, findSerial } = await open(engine)
    await registry.register(order)
    const renewal = { name: 'example.com', years: 1, amountCents: 1_195 }
    const results = await Promise.allSettled(Array.from({ length: 20 }, () => registry.renew(renewal)))
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(8)
    expect((await registry.find('example.com'))?.expiresAtMs).toBe(Date.UTC(2036, 0, 1))
    expect(await findSerial()).toBe(9)
  })

  test('concurrent changes of different settings are all stored', async () => {
    const { registry, findSerial } = await open(engine)
    await registry.register(order)
    await Promise.all([
      registry.setPrivacy('example.com', false),
      registry.setLocked('example.com', false),
      registry.setNameservers('example.com', ['ns1.example.net']),
      registry.renew({ name: 'example.com', years: 1, amountCents: 1_195 }),
    ])
    expect(await registry.find('example.com')).toMatchObject({
      ...{ privacy: false, locked: false, nameservers: ['ns1.example.net'], expiresAtMs: Date.UTC(2029, 0, 1) },
    })
    expect(await findSerial()).toBe(5)
  })

  test('20 concurrent records are all stored, and each increments the serial number', async () => {
    const { registry, findSerial } = await open(engine)
    await registry.register(order)
    const hosts = Array.from({ length: 20 }, (_, index) => `host-${index}`)
    const ids = await Promise.all(hosts.map((host) => registry.addRecord('example.com', record(host))))
    const records = await registry.records('example.com')
    expect(records.map(({ id }) => id).sort()).toEqual([...ids].sort())
    expect(records.map(({ host }) => host).sort()).toEqual([...hosts].sort())
    expect(await findSerial()).toBe(21)
    const [id = ''] = ids
    await registry.changeRecord('example.com', id, { ...record('www'), value: '192.0.2.2' })
    expect(await registry.records('example.com')).toContainEqual({ ...record('www'), value: '192.0.2.2', id })
    const removals = await Promise.allSettled(ids.map(() => registry.removeRecord('example.com', id)))
    expect(removals.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(await registry.records('example.com')).toHaveLength(19)
    expect(await findSerial()).toBe(23)
  })

  test('records keep their order, and a refused change leaves the serial number', async () => {
    const { registry, findSerial } = await open(engine)
    await registry.register(order)
    for (const host of ['z', 'a', 'm']) await registry.addRecord('example.com', record(host))
    expect((await registry.records('example.com')).map(({ host }) => host)).toEqual(['z', 'a', 'm'])
    await expect(registry.removeRecord('example.com', 'rec_unknown')).rejects.toMatchObject({ kind: 'refused' })
    await expect(registry.changeRecord('example.com', 'rec_unknown', record('x'))).rejects.toMatchObject({
      message: 'There is no DNS record rec_unknown.',
    })
    await expect(registry.addRecord('other.com', record('x'))).rejects.toMatchObject({
      message: 'other.com is not registered here.',
    })
    expect(await findSerial()).toBe(4)
  })

  test('a zone contains the names below it, with the records of its serial number', async () => {
    const { registry, store } = await open(engine)
    await registry.register(order)
    const find = (name: string) => registryRepository.findZone(store.read, name)
    expect(await find('www.example.com')).toMatchObject({ name: 'example.com', serial: 1, records: [] })
    expect(await find('other.com')).toBeUndefined()
    let isOver = false
    const changes = (async () => {
      for (let index = 0; index < 30; index += 1) await registry.addRecord('example.com', record(`host-${index}`))
      isOver = true
    })()
    while (!isOver) {
      const zone = await find('deep.www.example.com')
      expect(zone?.records).toHaveLength((zone?.serial ?? 0) - 1)
      await new Promise((resolve) => setImmediate(resolve))
    }
    await changes
    expect(await find('example.com')).toMatchObject({ serial: 31, nameservers: registryNameservers })
  })
})

async function open(engine: StoreEngine) {
  const { store } = await openServiceStore(engine)
  const prices = [{ tld: 'com', registration: 1_095, renewal: 1_195, transfer: 1_095 }]
  const registry = createLocalRegistry({ store, prices, now: () => startMs })
  const findSerial = async () => (await registryRepository.find(store.read, 'example.com'))?.serial
  return { store, registry, findSerial }
}
