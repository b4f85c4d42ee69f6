import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openDatabase } from '#storage/sqlite/openDatabase.ts'
import { secondAccount } from '../support/fixtures/secondAccount.ts'
import { seedDomain } from '../support/fixtures/seedDomain.ts'
import { type Answer, type Json, runningService, type TestService } from '../support/processes/runningService.ts'

/** `Idempotency-Key`: a request that a client retries because it lost the response is executed once. */
let service: TestService
let sandbox: string
let clockAheadMs = 0

beforeAll(async () => {
  service = await runningService({ now: () => Date.now() + clockAheadMs })
  const { status, json, text } = await service.send('/v1/sandboxes', { body: { name: 'repeated' } })
  expect(status, text).toBe(201)
  sandbox = `/v1/sandboxes/${json.id}`
})
afterAll(() => service?.close())

const exec = (command: string, idempotencyKey: string, key = service.key) =>
  service.send(`${sandbox}/exec`, { key, body: { command }, headers: { 'idempotency-key': idempotencyKey } })

const countLines = async (file: string) =>
  Number((await service.send(`${sandbox}/exec`, { body: { command: `wc -l < ${file}` } })).json.stdout)

test('a repeated request has no further effect and returns the first response', async () => {
  const first = await exec('echo once >> /tmp/once; date +%N', 'one')
  const second = await exec('echo once >> /tmp/once; date +%N', 'one')
  expect(second.json).toEqual(first.json)
  expect([first.headers['idempotent-replayed'], second.headers['idempotent-replayed']]).toEqual([undefined, 'true'])
  expect(await countLines('/tmp/once')).toBe(1)
})

test('concurrent repetitions wait for the first request', async () => {
  const answers = await Promise.all([1, 2, 3, 4].map(() => exec('echo x >> /tmp/together; date +%N', 'together')))
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
  expect(await countLines('/tmp/together')).toBe(1)
})

test('creates a sandbox only once', async () => {
  const create = () =>
    service.send('/v1/sandboxes', { body: { name: 'single' }, headers: { 'idempotency-key': 'create single' } })
  const [first, second] = [await create(), await create()]
  expect([first.status, second.status]).toEqual([201, 201])
  expect(second.json.id).toBe(first.json.id)
  const listed = await service.send('/v1/sandboxes')
  expect(listed.json.sandboxes.filter((it: { name: string }) => it.name === 'single')).toHaveLength(1)
  await service.send(`/v1/sandboxes/${first.json.id}`, { method: 'DELETE' })
})

test('creates a deleted resource again instead of replaying the response', async () => {
  const post = (path: string, idempotencyKey: string, body: object = {}) =>
    service.send(path, { body, headers: { 'idempotency-key': idempotencyKey } })
  const remove = async (path: string) => expect((await service.send(path, { method: 'DELETE' })).status).toBe(200)
  const create = () => post('/v1/sandboxes', 'create and delete', { name: 'deleted' })
  const first = (await create()).json.id
  await remove(`/v1/sandboxes/${first}`)
  const second = await create()
  expect([second.headers['idempotent-replayed'], second.json.id === first]).toEqual([undefined, false])
  expect((await service.send(`/v1/sandboxes/${second.json.id}`)).json.status).toBe('running')
  await remove(`/v1/sandboxes/${second.json.id}`)

  const snapshot = () => post(`${sandbox}/snapshots`, 'snapshot and delete', { name: 'deleted' })
  const { id: snapshotId } = (await snapshot()).json
  const fork = () => post(`${sandbox}/snapshots/${snapshotId}/fork`, 'fork and delete', { name: 'fork' })
  const { id: forkId } = (await fork()).json
  await remove(`/v1/sandboxes/${forkId}`)
  const forkedAgain = (await fork()).json.id
  expect(forkedAgain).not.toBe(forkId)
  await remove(`/v1/sandboxes/${forkedAgain}`)
  await remove(`${sandbox}/snapshots/${snapshotId}`)
  expect((await snapshot()).json.id).not.toBe(snapshotId)

  const upload = () => post(`${sandbox}/files/uploads`, 'begin and cancel', { path: '/tmp/upload', size: 3 })
  const { upload_id: uploadId } = (await upload()).json
  await remove(`${sandbox}/files/uploads/${uploadId}`)
  expect((await upload()).json.upload_id).not.toBe(uploadId)
})

test('adds removed ports, domains and DNS records again instead of replaying the response', async () => {
  const replays = async (path: string, body: object, removal: (json: Json) => string) => {
    const send = () => service.send(path, { body, headers: { 'idempotency-key': `add ${path}` } })
    const isReplay = ({ headers }: Answer) => headers['idempotent-replayed'] === 'true'
    const first = await send()
    expect(first.status, first.text).toBeLessThan(300)
    const second = await send()
    expect((await service.send(removal(first.json), { method: 'DELETE' })).status).toBe(200)
    return [first, second, await send()].map(isReplay)
  }
  const domain = 'idempotent.com'
  seedDomain(service.dataDir, { accountId: (await service.send('/v1/auth/me')).json.id, name: domain })
  const expected = [false, true, false]
  expect(await replays(`${sandbox}/ports/expose`, { port: 8080 }, () => `${sandbox}/ports/8080`)).toEqual(expected)
  expect(await replays(`${sandbox}/ports`, { port: 8081 }, () => `${sandbox}/ports/8081`)).toEqual(expected)
  const pointed = { domain: `app.${domain}`, port: 8081 }
  expect(await replays(`${sandbox}/domains`, pointed, () => `${sandbox}/domains/${pointed.domain}`)).toEqual(expected)
  const record = { type: 'A', host: 'www', value: '192.0.2.1' }
  const path = `/domains/${domain}/dns`
  expect(await replays(path, record, ({ record_id: id }) => `${path}/${id}`)).toEqual(expected)
})

test('rejects the same key for another request', async () => {
  await exec('true', 'taken')
  const otherResponse = await exec('false', 'taken')
  expect(otherResponse.status).toBe(409)
  expect(otherResponse.json).toMatchObject({
    code: 'request/reused-key',
    error: 'This Idempotency-Key was used for another request.',
  })
})

test('keys of different accounts are independent', async () => {
  await exec('true', 'shared')
  const { key } = secondAccount(service.dataDir)
  expect((await exec('true', 'shared', key)).status).toBe(404)
})

test.each([
  ['129 characters', 'k'.repeat(129)],
  ['none', ''],
])('a key of %s is refused', async (_, key) => {
  const answer = await exec('true', key)
  expect(answer.status).toBe(400)
  expect(answer.json.error).toBe('`Idempotency-Key` must have 1 to 128 characters.')
})

test('does not store an error, so the same request can be retried', async () => {
  await service.send(`${sandbox}/stop`, { method: 'POST' })
  expect((await exec('echo up', 'after a failure')).status).toBe(409)
  await service.send(`${sandbox}/start`, { method: 'POST' })
  expect((await exec('echo up', 'after a failure')).json.stdout).toBe('up\n')
})

test('survives a restart of the service and expires after a day', async () => {
  const first = await exec('date +%N', 'lasting')
  await service.restart()
  expect((await exec('date +%N', 'lasting')).json).toEqual(first.json)
  clockAheadMs = 24 * 60 * 60 * 1000 + 1
  expect((await exec('date +%N', 'lasting')).json).not.toEqual(first.json)
  clockAheadMs = 0
})

test('does not store long responses and deletes stored responses with their sandbox', async () => {
  const { json } = await service.send('/v1/sandboxes', { body: { name: 'long answers', network: 'none' } })
  const sandboxPath = `/v1/sandboxes/${json.id}`
  const run = (bytes: number, key: string) =>
    service.send(`${sandboxPath}/exec`, {
      headers: { 'idempotency-key': key },
      body: { command: `echo ran >> /tmp/long; head -c ${bytes} /dev/zero | tr '\\0' x` },
    })
  expect((await run(2_000_000, 'long')).json.stdout).toHaveLength(2_000_000)
  const repeated = await run(2_000_000, 'long')
  expect([repeated.status, repeated.json.code]).toEqual([409, 'request/unrepeatable'])
  expect((await run(10_000, 'short')).json).toEqual((await run(10_000, 'short')).json)
  const lines = await service.send(`${sandboxPath}/exec`, { body: { command: 'wc -l < /tmp/long' } })
  expect(Number(lines.json.stdout)).toBe(2)

  const database = openDatabase(join(service.dataDir, 'service.sqlite'))
  try {
    const stored = database.prepare<[string], { count: number; maxLength: number | null }>(
      'SELECT count(*) AS count, max(length(body)) AS maxLength FROM idempotent_answers WHERE sandbox_id = ?',
    )
    const before = stored.get(json.id)
    expect(before?.count).toBe(2)
    expect(before?.maxLength).toBeLessThan(20_000)
    expect((await service.send(sandboxPath, { method: 'DELETE' })).status).toBe(200)
    expect(stored.get(json.id)?.count).toBe(0)
    expect(database.pragma('auto_vacuum', { simple: true })).toBe(2)
  } finally {
    database.close()
  }
})

test('never stores a response that contains a secret', async () => {
  const headers = { 'idempotency-key': 'secrets' }
  const link = await service.send(`${sandbox}/terminal-session`, { method: 'POST', headers })
  const key = await service.send('/v1/auth/api-keys', { body: { name: 'a' }, headers })
  expect([link.status, key.status]).toEqual([201, 201])
  const database = openDatabase(join(service.dataDir, 'service.sqlite'))
  try {
    const bodies = database.prepare<[], { body: string }>('SELECT body FROM idempotent_answers').all()
    expect(bodies.length).toBeGreaterThan(0)
    for (const { body } of bodies) expect(body).not.toMatch(/stl_|sk_steward_/)
  } finally {
    database.close()
  }
})
