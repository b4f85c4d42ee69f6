import { expect, test } from 'vitest'
import { createExposedPorts, type ExposedPorts } from '#service/ports/exposedPorts.ts'
import { maxExposedPorts } from '#shared/contract/ports.ts'
import { SandboxId } from '#shared/ids.ts'
import { defineStatement, type Store } from '#storage/store.ts'
import type { Params } from '#storage/table.ts'
import { openServiceStore } from '../support/fixtures/serviceStores.ts'
import { describeStores, type StoreEngine } from '../support/fixtures/storeEngines.ts'

const [one, two] = ['a', 'b'].map((digit) => SandboxId.parse(digit.repeat(32))) as [SandboxId, SandboxId]
const addAccount = defineStatement("INSERT INTO accounts VALUES ('ada', 'user', 'Ada', 0)")
const addSandbox = defineStatement<Params<'id'>>(
  `INSERT INTO sandboxes (id, account_id, name, vcpu, memory_mb, disk_gb, region, runtime, enforced, status, created_at_ms)
   VALUES (@id, 'ada', 'one', 1, 512, 1, 'eu-north', 'bubblewrap', '{}', 'stopped', 0)`,
)
const removeSandbox = defineStatement<Params<'id'>>('DELETE FROM sandboxes WHERE id = @id')

type Opened = { ports: ExposedPorts; store: Store; changed: SandboxId[] }

async function openPorts(engine: StoreEngine): Promise<Opened> {
  const { store } = await openServiceStore(engine)
  await store.write(async (tx) => {
    await tx.run(addAccount)
    for (const id of [one, two]) await tx.run(addSandbox, { id })
  })
  const changed: SandboxId[] = []
  const ports = createExposedPorts({
    store,
    urlOf: ({ sandboxId, port, subdomain }) => `http://${subdomain ?? `${port}-${sandboxId}`}.localhost`,
    toEndpoint: () => ({ host: '127.0.0.1', port: 1 }),
    findTarget: async (domain) => (domain === 'shop.example' ? { sandboxId: one, port: null } : undefined),
    onChanged: (id) => changed.push(id),
  })
  return { ports, store, changed }
}

describeStores('exposed ports', (engine) => {
  test('are found by their names, and by the port or domain of their sandbox', async () => {
    const { ports, store, changed } = await openPorts(engine)
    await ports.expose(one, { port: 8080, subdomain: 'web' })
    await ports.expose(one, { port: 80, visibility: 'private' })
    expect((await ports.list(one)).map(({ port, visibility, url }) => [port, visibility, url])).toEqual([
      [80, 'private', `http://80-${one}.localhost`],
      [8080, 'public', 'http://web.localhost'],
    ])
    expect(await ports.findByLabel('web')).toMatchObject({ sandboxId: one, port: 8080 })
    expect(await ports.findByLabel(`80-${one}`)).toMatchObject({ port: 80 })
    expect(await ports.findByLabel('domain:shop.example')).toMatchObject({ port: 8080 })
    expect(await ports.findByLabel('domain:other.example')).toBeUndefined()
    expect(await ports.findByLabel('none')).toBeUndefined()
    await expect(ports.get(store.read, two, 80)).rejects.toMatchObject({ code: 'port/not-found' })
    expect(changed).toEqual([one, one])
  })

  test('the first one is that which was exposed earliest, also after changes', async () => {
    const { ports, store } = await openPorts(engine)
    for (const port of [300, 200, 100]) await ports.expose(one, { port })
    await ports.expose(one, { port: 300, visibility: 'private' })
    const findFirst = async () => (await ports.findFirst(store.read, one))?.port
    expect(await findFirst()).toBe(300)
    await ports.remove(one, 300)
    expect(await findFirst()).toBe(200)
    await ports.expose(one, { port: 300 })
    expect(await findFirst()).toBe(200)
    await expect(ports.remove(two, 200)).rejects.toMatchObject({ code: 'port/not-found' })
  })

  test('announce a change only if there is one, and keep what is not named', async () => {
    const { ports, changed } = await openPorts(engine)
    await ports.expose(one, { port: 80, visibility: 'private', subdomain: 'web' })
    await ports.expose(one, { port: 80 })
    await ports.expose(one, { port: 80, subdomain: 'web' })
    expect(changed).toEqual([one])
    expect(await ports.expose(one, { port: 80, visibility: 'public' })).toMatchObject({ url: 'http://web.localhost' })
  })

  test('of 20 concurrent requests for a name, one gets it', async () => {
    const { ports } = await openPorts(engine)
    const requests = Array.from({ length: 20 }, (_, index) =>
      ports.expose(index % 2 === 0 ? one : two, { port: 1_000 + Math.floor(index / 2), subdomain: 'web' }),
    )
    const results = await Promise.allSettled(requests)
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const it of results) if (it.status === 'rejected') expect(it.reason).toMatchObject({ code: 'port/taken' })
  })

  test('concurrent requests do not exceed the maximum of a sandbox', async () => {
    const { ports } = await openPorts(engine)
    for (let port = 1; port <= maxExposedPorts - 5; port += 1) await ports.expose(one, { port })
    const requests = Array.from({ length: 20 }, (_, index) => ports.expose(one, { port: 10_000 + index }))
    const results = await Promise.allSettled(requests)
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(5)
    expect(await ports.list(one)).toHaveLength(maxExposedPorts)
  })

  test('end with their sandbox', async () => {
    const { ports, store } = await openPorts(engine)
    await ports.expose(one, { port: 80, subdomain: 'web' })
    await store.write((tx) => tx.run(removeSandbox, { id: one }))
    expect(await ports.findByLabel('web')).toBeUndefined()
    await expect(ports.expose(one, { port: 80 })).rejects.toMatchObject({ code: 'sandbox/not-found' })
  })
})
