import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openDatabase } from '#storage/sqlite/openDatabase.ts'
import { until } from '../support/assertions/eventually.ts'
import { evmWallet } from '../support/clients/wallets.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'
import { exchange, runningService, type TestService } from '../support/processes/runningService.ts'

/** Access by key, host and origin; needs no sandbox. */
let service: TestService
let host: string

beforeAll(async () => {
  service = await runningService({ host: 'none' })
  host = new URL(service.url).host
})
afterAll(() => service?.close())

const withHeaders = (headers: Record<string, string>) => exchange(service.url, '/v1/sandboxes', { key: null, headers })

describe('an API key', () => {
  test.each<[string, (key: string) => Record<string, string>]>([
    ['Authorization: Bearer', (key) => ({ authorization: `Bearer ${key}` })],
    ['authorization: bearer', (key) => ({ authorization: `bearer ${key}` })],
    ['Authorization without a scheme', (key) => ({ authorization: key })],
    ['x-api-key', (key) => ({ 'x-api-key': key })],
  ])('is accepted as %s', async (_, headers) => {
    expect((await withHeaders(headers(service.key))).status).toBe(200)
  })

  test.each<[string, Record<string, string>, string, string]>([
    ['none', {}, 'auth/required', 'An API key is required.'],
    ['an empty one', { authorization: '' }, 'auth/required', 'The API key is empty.'],
    ['a scheme alone', { authorization: 'Bearer ' }, 'auth/required', 'The API key is empty.'],
    [
      'a wrong one',
      { authorization: `Bearer sk_steward_${'A'.repeat(43)}` },
      'auth/invalid',
      'The API key is not valid.',
    ],
    ['something else', { authorization: 'Basic dXNlcjpwYXNz' }, 'auth/invalid', 'The API key is not valid.'],
  ])('%s is refused', async (_, headers, code, error) => {
    const answer = await withHeaders(headers)
    expect(answer.status).toBe(401)
    expect(answer.headers['www-authenticate']).toBe('Bearer')
    expect(answer.json).toMatchObject({ code, error })
  })

  test('is shown once, works and reports its last use until revoked', async () => {
    const created = await service.send('/v1/auth/api-keys', { body: { name: 'script' } })
    expect(created.status).toBe(201)
    const { id, key, key_prefix } = created.json
    expect(key).toMatch(/^sk_steward_[A-Za-z0-9_-]{43}$/)
    expect(key.startsWith(key_prefix)).toBe(true)
    expect((await service.send('/v1/sandboxes', { key })).status).toBe(200)

    const listed = await service.send('/v1/auth/api-keys')
    expect(listed.text).not.toContain(key)
    const entry = listed.json.api_keys.find((it: { id: string }) => it.id === id)
    expect(entry).toMatchObject({ name: 'script', key_prefix, last_used_at: expect.any(String) })

    expect((await service.send(`/v1/auth/api-keys/${id}`, { method: 'DELETE' })).json.success).toBe(true)
    expect((await service.send('/v1/sandboxes', { key })).status).toBe(401)
    const again = await service.send(`/v1/auth/api-keys/${id}`, { method: 'DELETE' })
    expect(again.status).toBe(404)
    expect(again.json.code).toBe('key/not-found')
  })

  test('cannot create access that outlives it', async () => {
    const { key } = (await service.send('/v1/auth/api-keys', { body: { name: 'leaked' } })).json
    const { id } = (await service.send('/v1/auth/api-keys', { body: { name: 'of another program' } })).json
    const forbidden = { status: 403, json: { code: 'auth/forbidden' } }
    expect(await service.send('/v1/auth/api-keys', { key, body: { name: 'one more' } })).toMatchObject(forbidden)
    expect(await service.send(`/v1/auth/api-keys/${id}`, { key, method: 'DELETE' })).toMatchObject(forbidden)
    const wallet = evmWallet()
    const body = await wallet.signedMessage(service.url)
    expect(await service.send('/v1/auth/wallets', { key, body })).toMatchObject(forbidden)
    expect(await service.send(`/v1/auth/wallets/${wallet.address}`, { key, method: 'DELETE' })).toMatchObject(forbidden)
    expect(
      (await service.send('/v1/auth/api-keys', { key })).json.api_keys.map((it: { name: string }) => it.name),
    ).toEqual(expect.arrayContaining(['leaked', 'of another program']))
  })

  test('of the owner cannot be revoked remotely', async () => {
    const { json } = await service.send('/v1/auth/api-keys')
    const owner = json.api_keys.find((it: { name: string }) => it.name === 'Owner key')
    const answer = await service.send(`/v1/auth/api-keys/${owner.id}`, { method: 'DELETE' })
    expect(answer.status).toBe(403)
    expect((await service.send('/v1/sandboxes')).status).toBe(200)
  })

  test('is not stored in the database', async () => {
    const database = openDatabase(join(service.dataDir, 'service.sqlite'))
    database.pragma('wal_checkpoint(TRUNCATE)')
    database.close()
    const bytes = readFileSync(join(service.dataDir, 'service.sqlite'))
    expect(bytes.includes(service.key)).toBe(false)
    expect(bytes.includes(service.key.slice(0, 17))).toBe(true) // the prefix shown to users
  })
})

test('rate-limits wrong keys but never valid ones', async () => {
  const fresh = await runningService({ host: 'none', now: () => 1_800_000_000_000 })
  try {
    const wrong = () => fresh.send('/v1/sandboxes', { key: 'wrong' })
    for (let attempt = 0; attempt < 30; attempt++) expect((await wrong()).status).toBe(401)
    const slowed = await wrong()
    expect(slowed.status).toBe(429)
    expect(slowed.json.code).toBe('request/rate')
    expect(Number(slowed.headers['retry-after'])).toBeGreaterThan(0)
    expect((await fresh.send('/v1/sandboxes')).status).toBe(200)
  } finally {
    await fresh.close()
  }
})

describe('a host name', () => {
  test.each(['localhost', '127.0.0.1', '[::1]'])('accepts the host %s', async (name) => {
    const answer = await service.send('/v1/sandboxes', { headers: { host: `${name}:${new URL(service.url).port}` } })
    expect(answer.status).toBe(200)
  })

  test.each(['evil.example', 'localhost.evil.example', '127.0.0.1.nip.io', '192.168.1.5', 'local host'])(
    'rejects the host %s even with a valid key',
    async (name) => {
      const answer = await service.send('/v1/sandboxes', { headers: { host: name } })
      expect(answer.status).toBe(403)
      expect(answer.json).toMatchObject({
        code: 'auth/host',
        error: `This service does not serve the host \`${name}\`.`,
      })
    },
  )

  test('accepts the public address and its origin', async () => {
    const published = await runningService({ host: 'none', publicUrl: 'https://steward.example' })
    try {
      const headers = { host: 'steward.example', origin: 'https://steward.example' }
      expect((await published.send('/v1/sandboxes', { headers })).status).toBe(200)
      expect((await published.send('/v1/sandboxes', { headers: { host: 'other.example' } })).status).toBe(403)
    } finally {
      await published.close()
    }
  })
})

describe('an origin', () => {
  test('of the same address is accepted', async () => {
    expect((await service.send('/v1/sandboxes', { headers: { origin: `http://${host}` } })).status).toBe(200)
  })

  test.each(['https://evil.example', 'null', 'http://localhost:1', 'file://'])('%s is rejected', async (origin) => {
    const answer = await service.send('/v1/sandboxes', { headers: { origin } })
    expect(answer.status).toBe(403)
    expect(answer.json.code).toBe('auth/origin')
    expect(answer.headers['access-control-allow-origin']).toBeUndefined()
  })

  test('gets no permission in a preflight response', async () => {
    const response = await exchange(service.url, '/v1/sandboxes', {
      key: null,
      method: 'OPTIONS',
      headers: { origin: 'https://evil.example', 'access-control-request-method': 'POST' },
    })
    expect(response.status).toBe(403)
    expect(Object.keys(response.headers).filter((name) => name.startsWith('access-control'))).toEqual([])
  })
})

test('every response carries the security headers for browsers', async () => {
  for (const path of ['/health', '/v1/sandboxes', '/nothing']) {
    expect((await service.send(path)).headers).toMatchObject({
      'cache-control': 'no-store',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
    })
  }
})

test('health is degraded while no sandbox host responds', async () => {
  const status = async () => (await exchange(service.url, '/health', { key: null })).json.status
  await until('it says so', async () => (await status()) === 'degraded')
})

test('health needs no key and HEAD has no body', async () => {
  const answer = await exchange(service.url, '/health', { key: null })
  const ofEachPart = ['sandboxes', 'terminals', 'sign-in', 'identity', 'credits', 'models', 'domains', 'dns', 'events']
  expect(answer.json).toMatchObject({ version: '0.0.0', capabilities: expect.arrayContaining(ofEachPart) })
  expect(answer.json.timestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  const head = await exchange(service.url, '/health', { key: null, method: 'HEAD' })
  expect([head.status, head.text]).toEqual([200, ''])
})

describe('the owner key file', () => {
  const startService = async (dataDir: string) => {
    const running = await runningService({ host: 'none', dataDir })
    const works = (await running.send('/v1/sandboxes')).status === 200
    await running.close()
    return { key: running.key, works }
  }

  test('is readable by this user only and remains unchanged', async () => {
    const dataDir = temporaryFolder('owner')
    const first = await startService(dataDir)
    expect(statSync(join(dataDir, 'owner.key')).mode & 0o777).toBe(0o600)
    expect(await startService(dataDir)).toEqual({ key: first.key, works: true })
  })

  test('is recreated after a loss, which invalidates the old key', async () => {
    const dataDir = temporaryFolder('owner')
    const first = await startService(dataDir)
    rmSync(join(dataDir, 'owner.key'))
    const running = await runningService({ host: 'none', dataDir })
    try {
      expect(running.key).not.toBe(first.key)
      expect((await running.send('/v1/sandboxes')).status).toBe(200)
      expect((await running.send('/v1/sandboxes', { key: first.key })).status).toBe(401)
    } finally {
      await running.close()
    }
  })

  test('remains valid with a new database', async () => {
    const dataDir = temporaryFolder('owner')
    const first = await startService(dataDir)
    for (const ending of ['', '-wal', '-shm']) rmSync(join(dataDir, `service.sqlite${ending}`), { force: true })
    expect(await startService(dataDir)).toEqual({ key: first.key, works: true })
  })
})

describe('listening', () => {
  test('on other interfaces requires TLS or a proxy', async () => {
    await expect(runningService({ host: 'none', listen: { host: '0.0.0.0', port: 0 } })).rejects.toMatchObject({
      code: 'listen/insecure',
      message: expect.stringContaining('0.0.0.0'),
    })
  })

  test('behind a proxy accepts IP addresses but rejects unconfigured host names', async () => {
    const open = await runningService({ host: 'none', listen: { host: '0.0.0.0', port: 0 }, insecureBehindProxy: true })
    try {
      expect((await open.send('/v1/sandboxes', { headers: { host: '192.168.1.5' } })).status).toBe(200)
      expect((await open.send('/v1/sandboxes', { headers: { host: 'evil.example' } })).status).toBe(403)
    } finally {
      await open.close()
    }
  })

  test('reports a port that another program already uses', async () => {
    const { port } = new URL(service.url)
    await expect(
      runningService({ host: 'none', listen: { host: '127.0.0.1', port: Number(port) } }),
    ).rejects.toMatchObject({
      code: 'listen/failed',
      message: `Cannot listen on 127.0.0.1:${port}: another program is already listening there.`,
    })
  })

  test('reports a data folder that is a file', async () => {
    const folder = temporaryFolder('data')
    mkdirSync(join(folder, 'service.sqlite'))
    await expect(runningService({ host: 'none', dataDir: folder })).rejects.toMatchObject({ code: 'data/unusable' })
    const file = join(temporaryFolder('data'), 'file')
    writeFileSync(file, '')
    await expect(runningService({ host: 'none', dataDir: file })).rejects.toMatchObject({ code: 'data/unusable' })
  })
})
