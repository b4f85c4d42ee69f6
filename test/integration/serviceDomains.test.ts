import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { evmWallet } from '../support/clients/wallets.ts'
import { seedDomain } from '../support/fixtures/seedDomain.ts'
import { type RequestFields, runningService, type TestService } from '../support/processes/runningService.ts'

/** Domains and DNS over the real service, with its registry and its DNS server. */
const run = promisify(execFile)
let service: TestService
let ownerId: string
let zone: string
let names = 0

beforeAll(async () => {
  service = await runningService({ host: 'none', dnsListen: { host: '127.0.0.1', port: 0 } })
  ownerId = (await service.send('/v1/auth/me')).json.id
})
afterAll(() => service?.close())
beforeEach(() => {
  zone = `zone${++names}.com`
  seedDomain(service.dataDir, { accountId: ownerId, name: zone })
})

const dns = (path = '', options: RequestFields = {}) => service.send(`/domains/${zone}/dns${path}`, options)
const add = (body: object) => dns('', { body })
async function dig(...digArguments: string[]): Promise<string[]> {
  const digOptions = ['@127.0.0.1', '-p', String(service.dnsPort), '+short', '+tries=1']
  const { stdout } = await run('dig', [...digOptions, ...digArguments])
  return stdout.trim().split('\n')
}

describe('a client without credentials', () => {
  const open = (path: string) => service.send(path, { key: null })

  test('searches a word across common top-level domains with prices', async () => {
    const { json } = await open('/domains/search?q=My%20Shop')
    expect(json).toMatchObject({ query: 'My Shop', suggestions: [] })
    expect(json.results.map(({ domain }: { domain: string }) => domain)).toEqual(
      ['com', 'io', 'ai', 'xyz', 'net', 'org', 'dev'].map((tld) => `myshop.${tld}`),
    )
    expect(json.results[0]).toEqual({
      ...{ domain: 'myshop.com', unicode: 'myshop.com', available: true, status: 'available', premium: false },
      pricing: { registration: 10.95, renewal: 11.95, currency: 'USD' },
    })
  })

  test('searches a full name, other top-level domains and similar names', async () => {
    const { json } = await open('/v1/domains/search?q=bücher.de&tlds=com,.io,nothing&suggestions=1')
    expect(json.results.map(({ unicode }: { unicode: string }) => unicode)).toEqual([
      'bücher.de',
      'bücher.com',
      'bücher.io',
    ])
    expect(json.suggestions.length).toBeGreaterThan(3)
  })

  test('checks names and reports none as available without confirmation', async () => {
    const all = `example.com,${zone},premium-x.com,taken-x.com,down-x.com,x.nothing,x.zip,раураl.com`
    const { json } = await open(`/domains/check?domains=${encodeURIComponent(all)}`)
    expect(json).toMatchObject({ registrar: expect.any(String), test: true })
    const rows = json.domains.map((domain: Record<string, unknown>) => [
      domain.status,
      domain.available,
      domain.premium,
      domain.price,
    ])
    expect(rows).toEqual([
      ['available', true, false, 10.95],
      ['taken', false, false, 10.95],
      ['available', true, true, 2190],
      ['taken', false, false, 10.95],
      ['unknown', false, false, null],
      ['unknown', false, false, null],
      ['unknown', false, false, null],
      ['available', true, false, 10.95],
    ])
    expect(json.domains[5].error).toContain('public suffix')
    expect(json.domains[7].warning).toContain('scripts')
  })

  test('checks 200 names per request and no more', async () => {
    const many = (count: number) => Array.from({ length: count }, (_, index) => `name${index}.com`).join(',')
    expect((await open(`/domains/check?domains=${many(200)}`)).json.domains).toHaveLength(200)
    const refused = await open(`/domains/check?domains=${many(201)}`)
    expect([refused.status, refused.json.error]).toEqual([400, '`domains` must have at most 200 names.'])
    expect((await open('/domains/check?domains=,')).status).toBe(400)
    expect((await open('/domains/search?q=%20')).status).toBe(400)
    expect((await open('/domains/search')).json.error).toBe('`q` is required.')
    expect((await open('/v1/domains/search?query=mysite&tlds=com,io')).json).toMatchObject({
      query: 'mysite',
      results: [{ domain: 'mysite.com' }, { domain: 'mysite.io' }],
    })
    expect((await open('/domains/search?q=!!!')).json.error).toBe('`q` must contain letters or digits.')
  })

  test('reads the prices', async () => {
    const { json } = await open('/domains/pricing?tlds=com,nothing')
    expect(json).toMatchObject({
      pricing: [{ tld: 'com', registration: 10.95, renewal: 11.95, transfer: 10.95, currency: 'USD' }],
      test: true,
    })
    expect((await open('/domains/pricing')).json.pricing.length).toBeGreaterThan(10)
  })

  test('cannot see domains', async () => {
    for (const path of ['/domains', `/domains/${zone}`, `/domains/${zone}/dns`, '/transactions']) {
      expect((await open(path)).status).toBe(401)
    }
  })
})

test('a signed-in wallet sees only its own domains with its access token', async () => {
  const wallet = evmWallet()
  const { json: tokens } = await wallet.signIn(service.url)
  const { json: me } = await service.send('/auth/me', { key: tokens.access_token })
  seedDomain(service.dataDir, { accountId: me.id, name: `ada-${zone}` })
  const { json } = await service.send('/domains', { key: tokens.access_token })
  expect(json.domains).toMatchObject([
    { domain: `ada-${zone}`, name: `ada-${zone}`, status: 'active', privacy: true, locked: true, source: 'cache' },
  ])
  expect(json.domains[0].expiresAt).toBe(json.domains[0].expires_at)
})

test('changes privacy, lock and nameservers at the registrar', async () => {
  const putSetting = (setting: string, body: object) =>
    service.send(`/domains/${zone}/${setting}`, { method: 'PUT', body })
  expect((await putSetting('privacy', { enabled: false })).json).toEqual({
    success: true,
    domain: zone,
    privacy: false,
  })
  expect((await putSetting('lock', { enabled: false })).json).toEqual({ success: true, domain: zone, locked: false })
  const nameservers = ['NS1.example.net.', 'ns2.example.net']
  const named = await putSetting('nameservers', { nameservers })
  expect(named.json.nameservers).toEqual(['ns1.example.net', 'ns2.example.net'])
  expect((await service.send(`/v1/domains/${zone}`)).json).toMatchObject({
    ...{ privacy: false, locked: false, nameservers: ['ns1.example.net', 'ns2.example.net'] },
  })
  expect(await dig(zone, 'NS')).toContain('ns1.example.net.')
  for (const wrong of [
    [],
    ['ns1.example.net'],
    ['a.b', 'a.b'],
    ['x', 'y.z'],
    ['1.2.3.4', '5.6.7.8'],
    ['ns1.example.net', '5.6.7.8.'],
    Array.from({ length: 14 }, (_, index) => `n${index}.example.net`),
  ]) {
    expect((await putSetting('nameservers', { nameservers: wrong })).status, String(wrong)).toBe(400)
  }
})

describe('DNS records', () => {
  test('are added for every type and readable with dig', async () => {
    const long = `k=${'x'.repeat(600)}`
    const records = [
      { type: 'A', host: '@', value: '192.0.2.1' },
      { type: 'AAAA', host: 'www', value: '2001:db8::1', ttl: 300 },
      { type: 'cname', host: 'shop', value: `www.${zone}.` },
      { type: 'MX', host: '@', value: 'mail.example.net', distance: 5 },
      { type: 'TXT', host: '_dkim', value: long },
      { type: 'SRV', host: '_sip._tcp', value: '1 5060 sip.example.net', distance: 2 },
      { type: 'CAA', host: '@', value: '0 issue "letsencrypt.org"' },
      { type: 'NS', host: 'lab', value: 'ns1.example.net' },
      { type: 'A', host: '*.dev', value: '192.0.2.9' },
    ]
    for (const record of records) {
      const { status, json } = await add(record)
      expect(status, JSON.stringify(json)).toBe(201)
      expect(json).toMatchObject({ recordId: json.id, record_id: json.id, ttl: record.ttl ?? 3600 })
    }
    const { json } = await dns()
    expect(json).toMatchObject({ source: 'live', hash: expect.stringMatching(/^[0-9a-f]{64}$/) })
    expect(json.records).toHaveLength(records.length)
    expect((await dns()).json).toMatchObject({ source: 'cache', hash: json.hash })

    expect(await dig(zone, 'A')).toEqual(['192.0.2.1'])
    expect(await dig(`shop.${zone}`, 'AAAA')).toEqual([`www.${zone}.`, '2001:db8::1'])
    expect(await dig(zone, 'MX')).toEqual(['5 mail.example.net.'])
    expect((await dig(`_dkim.${zone}`, 'TXT')).join('').replaceAll('" "', '')).toBe(`"${long}"`)
    expect(await dig(`_sip._tcp.${zone}`, 'SRV')).toEqual(['2 1 5060 sip.example.net.'])
    expect(await dig(zone, 'CAA')).toEqual(['0 issue "letsencrypt.org"'])
    expect(await dig(`any.dev.${zone}`, 'A')).toEqual(['192.0.2.9'])
  })

  test('are changed and deleted, which increments the zone serial each time', async () => {
    const serial = async () => Number((await dig(zone, 'SOA'))[0]?.split(' ')[2])
    const before = await serial()
    const { json: added } = await add({ type: 'A', host: 'www', value: '192.0.2.1', ttl: 600 })
    const changed = await dns(`/${added.recordId}`, { method: 'PUT', body: { value: '192.0.2.2' } })
    expect(changed.json).toMatchObject({ success: true, host: 'www', value: '192.0.2.2', ttl: 600 })
    expect(await dig(`www.${zone}`, 'A')).toEqual(['192.0.2.2'])
    const response = await dns(`/${changed.json.recordId}`, { method: 'DELETE' })
    expect(response.json).toEqual({ success: true, recordId: changed.json.recordId })
    expect(await dig(`www.${zone}`, 'A')).toEqual([''])
    expect(await serial()).toBe(before + 3)
    for (const method of ['PUT', 'DELETE'] as const) {
      const unknown = await dns(`/${added.recordId}`, { method, ...(method === 'PUT' && { body: { ttl: 300 } }) })
      expect([unknown.status, unknown.json.code]).toEqual([404, 'dns/not-found'])
    }
  })

  test('are rejected without changes if a zone cannot contain them', async () => {
    await add({ type: 'A', host: 'www', value: '192.0.2.1' })
    const refused: [object, number, string][] = [
      [{ type: 'A', host: 'www', value: '192.0.2.1' }, 409, 'dns/conflict'],
      [{ type: 'CNAME', host: 'www', value: 'example.net' }, 409, 'dns/conflict'],
      [{ type: 'CNAME', host: '@', value: 'example.net' }, 400, 'request/invalid'],
      [{ type: 'A', host: 'www', value: 'nowhere' }, 400, 'request/invalid'],
      [{ type: 'A', host: 'a b', value: '192.0.2.1' }, 400, 'request/invalid'],
      [{ type: 'A', host: 'x', value: '192.0.2.1', ttl: 60 }, 400, 'request/invalid'],
      [{ type: 'PTR', host: 'x', value: 'example.net' }, 400, 'request/invalid'],
      [{ type: 'A', host: 'x' }, 400, 'request/invalid'],
      [{ type: 'A', host: 'x', value: '192.0.2.1', distance: 5 }, 400, 'request/invalid'],
      [{ type: 'MX', host: '@', value: 'mail.example.com', distance: 65_536 }, 400, 'request/invalid'],
    ]
    for (const [record, status, code] of refused) {
      const { status: statusCode, json } = await add(record)
      expect([statusCode, json.code], JSON.stringify(record)).toEqual([status, code])
    }
    const { records } = (await dns('?fresh=true')).json
    expect(records).toHaveLength(1)
    expect(records[0]).not.toHaveProperty('distance')
    for (const distance of [-1, 5, 65_536]) {
      const path = `/domains/${zone}/dns/${records[0].id}`
      const { status, json } = await service.send(path, { method: 'PUT', body: { distance } })
      expect([status, json.error], String(distance)).toEqual([400, expect.stringMatching(/^`distance` must/)])
    }
  })

  test('are added once by fifty concurrent requests with the same record', async () => {
    const all = await Promise.all(Array.from({ length: 50 }, () => add({ type: 'TXT', host: '@', value: 'once' })))
    expect(all.map(({ status }) => status).sort()).toEqual([201, ...Array.from({ length: 49 }, () => 409)])
  })

  test('return 503 while the registrar is down but the domain remains readable', async () => {
    zone = `down-${zone}`
    seedDomain(service.dataDir, { accountId: ownerId, name: zone })
    const nothing = await dns()
    expect([nothing.status, nothing.json.code]).toEqual([503, 'domain/registrar'])
    const added = await add({ type: 'TXT', host: '@', value: 'x' })
    expect([added.status, added.json]).toEqual([503, expect.objectContaining({ code: 'domain/registrar' })])
    expect((await service.send(`/domains/${zone}`)).json).toMatchObject({ domain: zone, status: 'active' })
  })
})

test('returns 404 for hostile domain names in the path', async () => {
  for (const name of ["'; DROP TABLE domains", 'a'.repeat(300), 'пример.com', '%00', 'nobody.com']) {
    const { status, json } = await service.send(`/domains/${encodeURIComponent(name)}`)
    expect([status, json.code], name).toEqual([404, 'domain/not-found'])
  }
})
