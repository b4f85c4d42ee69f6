import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openDatabase } from '#storage/sqlite/openDatabase.ts'
import { eventually } from '../support/assertions/eventually.ts'
import { secondAccount } from '../support/fixtures/secondAccount.ts'
import { seedDomain } from '../support/fixtures/seedDomain.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'
import { createRunningAgent, type RunningAgent } from '../support/processes/runningAgent.ts'
import {
  type Answer,
  type RequestFields,
  runningService,
  type TestService,
} from '../support/processes/runningService.ts'

/** Domains on the local side, with a real service and its registry. */
let service: TestService
let agent: RunningAgent
const dataFolder = temporaryFolder('agent')
let ownerId: string
let zone: string
let names = 0

beforeAll(async () => {
  service = await runningService({ host: 'none', dnsListen: { host: '127.0.0.1', port: 0 } })
  ownerId = (await service.send('/v1/auth/me')).json.id
  agent = await createRunningAgent({ dataFolder, target: target() })
  await eventually(() => expect(agent.connection().state).toBe('connected'))
})
afterAll(async () => {
  await agent?.close()
  await service?.close()
})
beforeEach(() => {
  zone = `zone${++names}.com`
  seedDomain(service.dataDir, { accountId: ownerId, name: zone })
})

const target = () => ({ url: service.url, key: service.key, certificate: undefined })
const local = (path = '', options: RequestFields = {}) => agent.send(`/local/domains${path}`, options)
const post = (path: string, body: object = {}) => local(path, { method: 'POST', body })
const records = async () => (await service.send(`/domains/${zone}/dns?fresh=1`)).json.records as RecordFields[]
type RecordFields = { type: string; host: string; value: string; ttl?: number; distance?: number | null }
const a = (host: string, value: string): RecordFields => ({ type: 'A', host, value })
const short = (all: readonly RecordFields[]) => all.map(({ type, host, value }) => `${host} ${type} ${value}`).sort()
const plan = (records: readonly RecordFields[]) => post(`/${zone}/plan`, { records })

describe('a DNS plan', () => {
  test('shows the difference without changing records and leaves an empty plan once applied', async () => {
    const before = short(await records())
    const desired = [a('@', '192.0.2.1'), { type: 'TXT', host: '@', value: '"quoted" text ' }]
    const { status, json } = await plan(desired)
    expect([status, json.state, json.domain]).toEqual([200, 'ready', zone])
    expect(short(await records())).toEqual(before)
    const applied = await post(`/plans/${json.id}/apply`)
    expect(applied.json).toMatchObject({ state: 'applied', error: null })
    expect(applied.json.steps.every(({ state }: { state: string }) => state === 'done')).toBe(true)
    expect(short(await records())).toEqual(['@ A 192.0.2.1', '@ TXT "quoted" text '])
    expect((await plan(desired)).json.steps).toEqual([])
    expect((await post(`/plans/${json.id}/apply`)).json).toMatchObject({ code: 'dns/plan-state' })
    const undo = await post(`/plans/${json.id}/undo`)
    expect(undo.json).toMatchObject({ state: 'ready', undo_of: json.id })
    expect((await post(`/plans/${undo.json.id}/apply`)).json.state).toBe('applied')
    expect(short(await records())).toEqual(before)
  })

  test('for a zone that changed since is refused without changes', async () => {
    const { json } = await plan([a('@', '192.0.2.1')])
    await service.send(`/domains/${zone}/dns`, { body: a('other', '192.0.2.9') })
    const moved = short(await records())
    const { status, json: refused } = await post(`/plans/${json.id}/apply`)
    expect([status, refused.code, refused.hint]).toEqual([409, 'dns/moved', 'Review the changes again.'])
    expect(short(await records())).toEqual(moved)
    expect((await local(`/${zone}/plans`)).json.plans[0].state).toBe('moved')
  })

  test('applied twice concurrently is applied once', async () => {
    const { json } = await plan([a('@', '192.0.2.1'), a('www', '192.0.2.1')])
    const both = await Promise.all([1, 2].map(() => post(`/plans/${json.id}/apply`)))
    expect(both.map(({ json: { state, code } }) => state ?? code).sort()).toEqual(['applied', 'dns/plan-state'])
    expect(short(await records())).toEqual(['@ A 192.0.2.1', 'www A 192.0.2.1'])
  })

  test('preserves completed steps when one fails, reports the failed step and can be undone', async () => {
    const before = short(await records())
    const { json } = await plan([a('one', '192.0.2.1'), a('two', '192.0.2.2'), a('three', '192.0.2.3')])
    const additions = json.steps.filter(({ action }: { action: string }) => action === 'add')
    expect(additions).toHaveLength(3)
    // The registrar rejects the second domain, which someone else registered between the check and the step.
    const registry = openDatabase(join(service.dataDir, 'service.sqlite'))
    const refuse = registry.prepare(
      `CREATE TRIGGER refuse BEFORE INSERT ON registry_records WHEN new.host = 'two' BEGIN SELECT raise(ABORT, 'no'); END`,
    )
    refuse.run()
    const applied = await post(`/plans/${json.id}/apply`)
    registry.exec('DROP TRIGGER refuse')
    registry.close()
    expect(applied.json.state).toBe('failed')
    expect(applied.json.error).toBeTypeOf('string')
    const states = applied.json.steps.slice(-3).map(({ state }: { state: string }) => state)
    expect(states).toEqual(['done', 'failed', 'waiting'])
    expect(short(await records())).toContain('one A 192.0.2.1')
    const undo = await post(`/plans/${json.id}/undo`)
    await post(`/plans/${undo.json.id}/apply`)
    expect(short(await records())).toEqual(before)
  })

  test.each([
    [[a('@', '192.0.2.300')], 'Record 1: `value`'],
    [[a('@', '192.0.2.1'), a('@', '192.0.2.1')], 'Record 1: A @ appears twice'],
    [[a('w', '192.0.2.1'), { type: 'CNAME', host: 'w', value: 'example.net' }], 'CNAME cannot coexist'],
    [[{ type: 'PTR', host: 'w', value: 'example.net' }], 'must be one of'],
  ])('with an invalid record is refused', async (records, why) => {
    const { status, json } = await plan(records)
    expect([status, json.code]).toEqual([400, 'request/invalid'])
    expect(json.error).toContain(why)
  })

  test('cannot be created for a domain of another account or with an API key', async () => {
    expect((await post('/example.org/plan', { records: [] })).json.code).toBe('domain/not-found')
    expect((await post('/plans/plan_x/apply')).json.code).toBe('dns/plan-not-found')
    const headers = { authorization: `Bearer ${service.key}` }
    expect((await local(`/${zone}/plan`, { method: 'POST', body: { records: [] }, headers })).status).toBe(403)
  })
})

test('refreshes the list when the service announces a change', async () => {
  await local()
  await service.send(`/v1/domains/${zone}/privacy`, { method: 'PUT', body: { enabled: false } })
  await eventually(async () => {
    const { json } = await local()
    expect(json.domains.find(({ domain }: { domain: string }) => domain === zone)?.privacy).toBe(false)
  })
  expect(agent.events.some(({ type }) => type === 'local-domains.changed')).toBe(true)
})

test('shows stored data with its age without the service and plans nothing without data', async () => {
  await local()
  await service.send(`/v1/domains/${zone}/privacy`, { method: 'PUT', body: { enabled: false } })
  const live = await local(`/${zone}`)
  const zoneRead = await local(`/${zone}/dns`)
  const search = await local('/search?q=shop')
  await local('/pricing')
  expect([live.json.source, search.json.source]).toEqual([expect.stringMatching(/live|cache/), 'live'])
  await eventually(async () => {
    const { json } = await local()
    expect(json.domains.map(({ domain }: { domain: string }) => domain)).toContain(zone)
  })
  const created = await plan([a('@', '192.0.2.1')])
  await agent.close()

  // The application restarts while the service does not respond.
  agent = await createRunningAgent({ dataFolder })
  const list = await local()
  expect([list.status, list.json.source]).toEqual([200, 'offline'])
  expect(list.json.domains.map(({ domain }: { domain: string }) => domain)).toContain(zone)
  expect((await local(`/${zone}`)).json).toMatchObject({ domain: zone, source: 'offline', as_of: live.json.as_of })
  const offline = (await local(`/${zone}/dns`)).json
  expect([offline.source, offline.hash]).toEqual(['offline', zoneRead.json.hash])
  expect((await local('/search?q=shop')).json).toMatchObject({ source: 'offline', results: search.json.results })
  expect((await local('/pricing')).json).toMatchObject({ source: 'offline', test: true })
  for (const refused of [
    await plan([]),
    await post(`/plans/${created.json.id}/apply`),
    await local('/search?q=never-searched'),
    await agent.send(`/v1/domains/${zone}/privacy`, { method: 'PUT', body: { enabled: true } }),
  ]) {
    expect([refused.status, refused.json.code]).toEqual([503, 'service/unavailable'])
  }
  expect((await local(`/${zone}/plans`)).json.plans[0]).toMatchObject({ id: created.json.id, state: 'ready' })
  agent.connect(target())
  await eventually(() => expect(agent.connection().state).toBe('connected'))
  await eventually(async () => expect((await local()).json.source).toBe('cache'))
})

test('an account sees only its own domains, even after another account signed in', async () => {
  // Changes are announced, unlike fixtures.
  await service.send(`/domains/${zone}/privacy`, { method: 'PUT', body: { enabled: false } })
  await eventually(async () => expect(listNames(await local())).toContain(zone))
  const otherAccount = secondAccount(service.dataDir)
  seedDomain(service.dataDir, { accountId: otherAccount.accountId, name: `theirs-${zone}` })
  agent.connect({ ...target(), key: otherAccount.key })
  await eventually(async () => expect(listNames(await local())).toEqual([`theirs-${zone}`]))
  await agent.close()

  // Restarts without the service, for the account that signed in last.
  agent = await createRunningAgent({ dataFolder })
  expect(listNames(await local())).toEqual([`theirs-${zone}`])
  expect((await local(`/${zone}`)).status).toBe(503)
  agent.connect(target())
  await eventually(async () => {
    const names = listNames(await local())
    expect(names).toContain(zone)
    expect(names).not.toContain(`theirs-${zone}`)
  })
})

test('another account cannot see, apply or undo the plan of an account', async () => {
  const [ready, undone] = [await plan([a('@', '192.0.2.1')]), await plan([a('www', '192.0.2.2')])]
  expect((await post(`/plans/${undone.json.id}/apply`)).json.state).toBe('applied')
  const otherAccount = secondAccount(service.dataDir)
  agent.connect({ ...target(), key: otherAccount.key })
  await eventually(async () => expect((await agent.send('/v1/auth/me')).json.id).toBe(otherAccount.accountId))
  expect((await local(`/${zone}/plans`)).json.plans ?? []).toEqual([])
  for (const refused of [
    await post(`/plans/${ready.json.id}/apply`),
    await post(`/plans/${ready.json.id}/undo`),
    await post(`/plans/${undone.json.id}/undo`),
  ]) {
    expect([refused.status, refused.json.code]).toEqual([404, 'dns/plan-not-found'])
  }
  // Still refused although the domain now belongs to that account.
  const registry = openDatabase(join(service.dataDir, 'service.sqlite'))
  registry.prepare('UPDATE domains SET account_id = ? WHERE name = ?').run(otherAccount.accountId, zone)
  registry.close()
  expect((await local(`/${zone}/plans`)).json.plans).toEqual([])
  expect((await post(`/plans/${undone.json.id}/undo`)).json.code).toBe('dns/plan-not-found')
  agent.connect(target())
  await eventually(async () => expect((await agent.send('/v1/auth/me')).json.id).toBe(ownerId))
  expect((await local(`/${zone}/plans`)).json.plans.map(({ id }: { id: string }) => id)).toEqual([
    undone.json.id,
    ready.json.id,
  ])
})
const listNames = ({ json }: Answer): string[] => (json.domains ?? []).map(({ domain }: { domain: string }) => domain)

describe('DNS propagation', () => {
  test('reports the records of each server: all from the registry, none from another server', async () => {
    await service.send(`/domains/${zone}/dns`, { body: a('www', '192.0.2.1') })
    await service.send(`/domains/${zone}/dns`, { body: { type: 'TXT', host: '@', value: 'v=spf1 -all' } })
    await local(`/${zone}/dns?fresh=1`)
    const { servers } = (await local(`/${zone}/propagation`)).json
    const [first, ...others] = servers
    expect(first).toMatchObject({ kind: 'authoritative', name: `127.0.0.1:${service.dnsPort}` })
    expect(others.map(({ kind }: { kind: string }) => kind)).toEqual(['resolver', 'resolver', 'resolver', 'resolver'])
    const { json } = await post(`/${zone}/propagation`, { server: first.id })
    expect(json.left_out).toBe(0)
    expect(json.records).toContainEqual({
      ...{ type: 'A', host: 'www', state: 'same', ttl: 3_600, detail: null },
      ...{ wanted: ['192.0.2.1'], found: ['192.0.2.1'] },
    })
    expect(json.records.map(({ state }: { state: string }) => state)).toEqual(['same', 'same'])
    expect((await post(`/${zone}/propagation`, { server: '10.0.0.1' })).status).toBe(404)
  })
})
