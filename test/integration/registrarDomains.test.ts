import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createJsonLog } from '#platform/logging/log.ts'
import { createPayer, type Payer, paymentHeader } from '../support/clients/payer.ts'
import { seedDomain } from '../support/fixtures/seedDomain.ts'
import {
  type Answer,
  type RequestFields,
  runningService,
  type TestService,
} from '../support/processes/runningService.ts'
import { nameSiloKey, nameSiloServer } from '../support/registrars/nameSiloServer.ts'

/**
 * The real service with a remote registrar: its purchases, its behavior while the registrar is down, and the data that
 * it must not reveal.
 */
let registrar: Awaited<ReturnType<typeof nameSiloServer>>
let service: TestService
let ada: Payer
let names = 0
let nowMs = Date.now()
const log: string[] = []
const answers: string[] = []

beforeAll(async () => {
  registrar = await nameSiloServer()
  service = await runningService({
    host: 'none',
    now: () => nowMs,
    log: createJsonLog({ write: (line) => void log.push(line), now: Date.now, level: 'debug' }),
    payments: { facilitator: { kind: 'test-ledger' } },
    registrar: {
      ...{ kind: 'namesilo', apiKey: nameSiloKey, paymentId: undefined, url: registrar.url },
      ...{ isReal: false, settlesWithinMs: 0 },
    },
  })
  ada = createPayer()
  for (let count = 0; count < 6; count += 1) await send('/v1/payments/faucet', { body: { address: ada.address } })
})
afterAll(async () => {
  await service?.close()
  await registrar?.close()
})
afterEach(() => {
  registrar.meets(undefined)
  nowMs = Date.now()
})

const send = async (path: string, fields?: RequestFields): Promise<Answer> => {
  const answer = await service.send(path, fields)
  answers.push(answer.text)
  return answer
}
const fresh = () => `bought-${++names}.com`
const credits = async () => (await send('/v1/credits/balance')).json.balance_cents
async function paid(path: string, body: object): Promise<RequestFields> {
  const { status, json } = await send(path, { body })
  expect(status, JSON.stringify(json)).toBe(402)
  const [offer] = json.accepts
  const value = offer.maxAmountRequired.replace(/^0+/, '')
  return { body, headers: paymentHeader(1, await ada.authorize({ to: offer.payTo, value })) }
}
async function pay(path: string, body: object): Promise<Answer> {
  return send(path, await paid(path, body))
}
async function buyDomain(): Promise<string> {
  const domain = fresh()
  const answer = await pay('/domains/register', { domain })
  expect(answer.status, answer.text).toBe(201)
  return domain
}
const down = { at: '/', moves: false, how: 502, times: 1_000 } as const

test('searches, quotes, buys, renews and changes NameSilo domains', async () => {
  const domain = fresh()
  const offers = await send(`/domains/check?domains=${domain}`)
  expect(offers.json.domains[0]).toMatchObject({ status: 'available', price: 13.95 })
  const prices = await send('/domains/pricing?tlds=com')
  expect(prices.json).toMatchObject({ registrar: 'NameSilo', test: false, pricing: [{ registration: 13.95 }] })
  const quote = await send('/domains/quotes', { body: { domain, years: 2 } })
  expect(quote.json).toMatchObject({ amount: 29.9, first_year: 13.95, later_year: 15.95, registrar: 'NameSilo' })

  const answer = await pay('/domains/register', { domain, years: 2, quote_id: quote.json.quote_id })
  expect(answer.status, answer.text).toBe(201)
  expect(registrar.billed).toEqual([`register ${domain}`])
  expect((await pay(`/domains/${domain}/renew`, { years: 1 })).status).toBe(201)
  expect(registrar.billed).toEqual([`register ${domain}`, `renew ${domain}`])
  const { json } = await send(`/domains/${domain}`)
  expect(json).toMatchObject({ domain, status: 'active', locked: true, privacy: true, registrar: 'NameSilo' })

  const lock = await send(`/domains/${domain}/lock`, { method: 'PUT', body: { enabled: false } })
  expect(lock.json).toEqual({ success: true, domain, locked: false })
  const code = await send(`/domains/${domain}/auth-code`, { method: 'POST' })
  expect(code.json).toEqual({ success: true, domain, auth_code: null })
  const added = await send(`/domains/${domain}/dns`, { body: { type: 'MX', host: '@', value: 'mail.example.net' } })
  expect(added.status, added.text).toBe(201)
  const caa = await send(`/domains/${domain}/dns`, { body: { type: 'CAA', host: '@', value: '0 issue "ca.example"' } })
  expect([caa.status, caa.json.code]).toEqual([409, 'domain/unsupported'])
})

describe('while the registrar is unavailable', () => {
  test('shows stored data with its age, rejects writes and loses nothing', async () => {
    const domain = await buyDomain()
    await send(`/domains/${domain}/dns`, { body: { type: 'A', host: '@', value: '192.0.2.1' } })
    const before = await send(`/domains/${domain}/dns?fresh=true`)
    registrar.meets(down)
    nowMs += 6 * 60_000
    expect((await send(`/domains/${domain}`)).json.source).toBe('cache')
    await expect.poll(async () => (await send(`/domains/${domain}`)).json.source).toBe('stale')
    const zone = (await send(`/domains/${domain}/dns`)).json
    expect(zone).toEqual({ ...before.json, source: 'stale' })
    for (const [path, fields] of [
      [`/domains/${domain}/dns`, { body: { type: 'A', host: 'www', value: '192.0.2.2' } }],
      [`/domains/${domain}/dns/${zone.records[0].id}`, { method: 'DELETE' }],
      [`/domains/${domain}/dns?fresh=true`, {}],
      [`/domains/${fresh()}/auth-code`.replace(/bought-\d+\.com/, domain), { method: 'POST' }],
    ] as const) {
      const answer = await send(path, fields)
      expect([path, answer.status]).toEqual([path, 503])
    }
    expect((await send('/domains/register', { body: { domain: fresh() } })).json.code).toBe('domain/registrar')
    registrar.meets(undefined)
    expect((await send(`/domains/${domain}/dns?fresh=true`)).json.records).toHaveLength(1)
  })
})

describe('a lost registrar response', () => {
  test.each(['cut', 502, 'no-json'] as const)('(%s) to a completed order buys one domain', async (how) => {
    const domain = fresh()
    const before = await credits()
    registrar.meets({ at: 'registerDomain', moves: true, how })
    const answer = await pay('/domains/register', { domain })
    expect(answer.status, answer.text).toBe(201)
    expect(registrar.billed.filter((it) => it === `register ${domain}`)).toHaveLength(1)
    expect(await credits()).toBe(before)
  })

  test('to an uncompleted order becomes credits when the same payment is retried', async () => {
    const domain = fresh()
    const before = await credits()
    registrar.meets({ at: 'registerDomain', moves: false, how: 'cut' })
    const response = await paid('/domains/register', { domain })
    const answer = await send('/domains/register', response)
    expect([answer.status, answer.json.code]).toEqual([503, 'payments/unknown'])
    expect(await credits()).toBe(before)
    for (let times = 0; times < 2; times += 1) {
      expect((await send('/domains/register', response)).text).toMatch(/credit/i)
      expect(await credits()).toBe(before + 1_395)
    }
    expect(registrar.billed).not.toContain(`register ${domain}`)
    expect((await send('/transactions')).json.transactions[0]).toMatchObject({ domainId: domain, status: 'failed' })
  })

  test('to a change is resolved by reading the records', async () => {
    const domain = await buyDomain()
    registrar.meets({ at: 'dnsAddRecord', moves: true, how: 'cut' })
    const added = await send(`/domains/${domain}/dns`, { body: { type: 'A', host: '@', value: '192.0.2.1' } })
    expect(added.status, added.text).toBe(201)
    registrar.meets({ at: 'dnsUpdateRecord', moves: true, how: 'cut' })
    const path = `/domains/${domain}/dns/${added.json.id}`
    const changed = await send(path, { method: 'PUT', body: { value: '192.0.2.2' } })
    expect(changed.status, changed.text).toBe(200)
    registrar.meets({ at: 'dnsDeleteRecord', moves: true, how: 'cut' })
    const removed = await send(`/domains/${domain}/dns/${changed.json.id}`, { method: 'DELETE' })
    expect(removed.status, removed.text).toBe(200)
    registrar.meets({ at: 'dnsAddRecord', moves: false, how: 'cut' })
    const uncertain = await send(`/domains/${domain}/dns`, { body: { type: 'A', host: '@', value: '192.0.2.1' } })
    expect([uncertain.status, uncertain.json.code]).toEqual([503, 'dns/unknown-outcome'])
    registrar.meets({ at: 'removePrivacy', moves: true, how: 'cut' })
    const response = await send(`/domains/${domain}/privacy`, { method: 'PUT', body: { enabled: false } })
    expect(response.json).toEqual({ success: true, domain, privacy: false })
    registrar.meets({ at: 'domainUnlock', moves: false, how: 'cut' })
    const lock = await send(`/domains/${domain}/lock`, { method: 'PUT', body: { enabled: false } })
    expect([lock.status, lock.json.code]).toEqual([503, 'domain/unknown-outcome'])
  })
})

test('the key appears in no response and no log line', () => {
  expect(log.length).toBeGreaterThan(5)
  expect(registrar.calls.length).toBeGreaterThan(20)
  for (const text of [...log, ...answers]) expect(text).not.toContain(nameSiloKey)
})

test('refuses to sell domains that cost money for test money', async () => {
  const url = 'https://registrar.invalid/api'
  const shop = await runningService({
    host: 'none',
    payments: { facilitator: { kind: 'test-ledger' } },
    registrar: {
      ...{ kind: 'namesilo', apiKey: nameSiloKey, paymentId: undefined, url, isReal: true, settlesWithinMs: 0 },
    },
  })
  try {
    for (const path of ['/domains/register', '/domains/quotes']) {
      const answer = await shop.send(path, { body: { domain: 'example.com' } })
      expect([answer.status, answer.json.code]).toEqual([503, 'payments/unconfigured'])
    }
  } finally {
    await shop.close()
  }
})

test('does not sell, renew or offer test domains for real money', async () => {
  const shop = await runningService({
    host: 'none',
    payments: {
      network: 'base',
      payTo: `0x${'2'.repeat(40)}`,
      facilitator: { kind: 'remote', url: 'https://facilitator.invalid', rpcUrl: undefined, cdpKey: undefined },
    },
  })
  try {
    const { json: me } = await shop.send('/v1/auth/me')
    seedDomain(shop.dataDir, { accountId: me.id, name: 'planted.com' })
    for (const [path, body] of [
      ['/domains/planted.com/renew', {}],
      ['/domains/register', { domain: 'example.com' }],
      ['/domains/quotes', { domain: 'planted.com', type: 'renewal' }],
    ] as const) {
      const answer = await shop.send(path, { body })
      expect([path, answer.status, answer.json.code]).toEqual([path, 503, 'payments/unconfigured'])
    }
    const { status, json } = await shop.send('/.well-known/x402', { key: null })
    expect([status, json.resources]).toEqual([200, [`${shop.url}/pay/{amount_usd}/{address}`]])
  } finally {
    await shop.close()
  }
})
