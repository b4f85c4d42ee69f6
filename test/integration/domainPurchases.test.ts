import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createPayer, type Payer, paymentHeader } from '../support/clients/payer.ts'
import { secondAccount } from '../support/fixtures/secondAccount.ts'
import { type Answer, runningService, type TestService } from '../support/processes/runningService.ts'

/** Domains bought with test money from the real service. Each is paid once, and yields a domain or credits. */
let service: TestService
let ada: Payer
let names = 0

beforeAll(async () => {
  service = await runningService({ host: 'none', payments: { facilitator: { kind: 'test-ledger' } } })
  ada = createPayer()
  for (let count = 0; count < 5; count += 1)
    await service.send('/v1/payments/faucet', { body: { address: ada.address } })
})
afterAll(() => service?.close())

const fresh = (prefix = 'bought') => `${prefix}-${++names}.com`
const money = async () => Number((await service.send(`/v1/payments/balance/${ada.address}`)).json.balance)
const credits = async () => (await service.send('/v1/credits/balance')).json.balance_cents
const listOwned = async (): Promise<string[]> =>
  (await service.send('/domains')).json.domains.map(({ domain }: { domain: string }) => domain)
const ask = (path: string, body: object, headers: Record<string, string> = {}) => service.send(path, { body, headers })

/** Creates a payment that matches the requirements of this request. */
async function paymentFor(path: string, body: object, version: 1 | 2 = 1): Promise<Record<string, string>> {
  const { status, json } = await ask(path, body)
  expect(status, JSON.stringify(json)).toBe(402)
  const [offer] = json.accepts
  return paymentHeader(
    version,
    await ada.authorize({ to: offer.payTo, value: offer.maxAmountRequired.replace(/^0+/, '') }),
  )
}
async function buy(path: string, body: object): Promise<Answer> {
  return ask(path, body, await paymentFor(path, body))
}

test('registers and renews a domain for exactly the requested terms', async () => {
  const domain = fresh()
  const before = await money()
  const answer = await buy('/domains/register', { domain, years: 2, privacy: false })
  expect(answer.status, answer.text).toBe(201)
  expect(answer.json).toMatchObject({ success: true, domain, status: 'active', years: 2, privacy: false })
  expect(answer.json.transactionId).toBe(answer.json.transaction_id)
  expect(before - (await money())).toBe((1_095 + 1_195) * 10_000)

  const renewed = await buy(`/v1/domains/${domain}/renew`, { years: 3 })
  expect(renewed.status, renewed.text).toBe(201)
  expect(before - (await money())).toBe((1_095 + 4 * 1_195) * 10_000)
  const years = (from: string, to: string) => new Date(to).getUTCFullYear() - new Date(from).getUTCFullYear()
  expect(years(answer.json.expires_at, renewed.json.expires_at)).toBe(3)
  expect(await listOwned()).toContain(domain)
  const { transactions } = (await service.send('/transactions')).json
  expect(transactions.slice(0, 2)).toMatchObject([
    { domainId: domain, type: 'renewal', amount: 35.85, currency: 'USD', status: 'completed' },
    { domainId: domain, type: 'registration', amount: 22.9, status: 'completed' },
  ])
})

test('settles one of fifty payment copies and returns the same domain for each success', async () => {
  const body = { domain: fresh() }
  const headers = await paymentFor('/domains/register', body, 2)
  const before = await money()
  const answers = await Promise.all(Array.from({ length: 50 }, () => ask('/domains/register', body, headers)))
  const done = answers.filter(({ status }) => status === 201)
  expect(done.length).toBeGreaterThan(0)
  expect(new Set(done.map(({ json }) => json.transaction_id)).size).toBe(1)
  expect(new Set(answers.map(({ status }) => status)).size).toBeLessThanOrEqual(2)
  expect(answers.filter(({ status }) => status !== 201).every(({ status }) => status === 409)).toBe(true)
  expect(before - (await money())).toBe(10_950_000)
  const again = await ask('/domains/register', body, headers)
  expect([again.status, again.json.transaction_id]).toEqual([201, done[0]?.json.transaction_id])
  expect(before - (await money())).toBe(10_950_000)
})

test('charges one of two concurrent orders of a domain and refuses the other unpaid', async () => {
  const body = { domain: fresh() }
  const both = await Promise.all([paymentFor('/domains/register', body), paymentFor('/domains/register', body)])
  const [before, creditsBefore] = [await money(), await credits()]
  const answers = await Promise.all(both.map((headers) => ask('/domains/register', body, headers)))
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 409])
  expect(answers.find(({ status }) => status === 409)?.json.code).toMatch(/^domain\/(busy|taken)$/)
  expect(before - (await money())).toBe(10_950_000)
  expect(await credits()).toBe(creditsBefore)
})

test('charges one of two concurrent renewals of a term and refuses the other unpaid', async () => {
  const { domain, expires_at } = (await buy('/domains/register', { domain: fresh() })).json
  const path = `/v1/domains/${domain}/renew`
  const body = { years: 1, if_expires_at: expires_at }
  const both = await Promise.all([paymentFor(path, body), paymentFor(path, body)])
  const before = await money()
  const answers = await Promise.all(both.map((headers) => ask(path, body, headers)))
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 409])
  expect(answers.find(({ status }) => status === 409)?.json.code).toMatch(/^domain\/(busy|renewed)$/)
  expect(before - (await money())).toBe(11_950_000)
})

test('an Idempotency-Key renews once regardless of the payment sent with each retry', async () => {
  const { domain, expires_at } = (await buy('/domains/register', { domain: fresh() })).json
  const path = `/domains/${domain}/renew`
  const both = await Promise.all([paymentFor(path, {}), paymentFor(path, {})])
  const [before, creditsBefore] = [await money(), await credits()]
  const answers: Answer[] = []
  for (const headers of both) answers.push(await ask(path, {}, { ...headers, 'idempotency-key': `renew ${domain}` }))
  const [first, again] = answers
  expect([first?.status, again?.status], again?.text).toEqual([201, 201])
  expect(again?.json).toEqual(first?.json)
  expect(again?.headers['idempotent-replayed']).toBe('true')
  expect(before - (await money())).toBe(11_950_000)
  expect(await credits()).toBe(creditsBefore)
  const renewed = (await service.send(`/domains/${domain}`)).json.expires_at
  expect(new Date(renewed).getUTCFullYear() - new Date(expires_at).getUTCFullYear()).toBe(1)
})

describe('a quote', () => {
  const createQuote = (body: object) => service.send('/domains/quotes', { body })

  test('fixes the price in the 402 response to its order and can be purchased', async () => {
    const body = { domain: fresh('premium'), years: 2 }
    const { status, json } = await createQuote(body)
    expect([status, json.premium, json.amount, json.test]).toEqual([201, true, 4_580, true])
    const response = await ask('/domains/register', { ...body, quote_id: json.quote_id })
    expect(Number(response.json.accepts[0].maxAmountRequired)).toBe(4_580_000_000)
    const renewal = { domain: fresh() }
    expect((await buy('/domains/register', renewal)).status).toBe(201)
    const quote = await createQuote({ ...renewal, years: 3, type: 'renewal' })
    expect(quote.json).toMatchObject({ type: 'renewal', amount: 35.85 })
    const body3 = { years: 3, quote_id: quote.json.quote_id }
    expect((await buy(`/domains/${renewal.domain}/renew`, body3)).status).toBe(201)
  })

  test('is rejected for another order, for another account or if it does not exist', async () => {
    const domain = fresh()
    const { quote_id } = (await createQuote({ domain })).json
    const { key } = secondAccount(service.dataDir)
    for (const [body, expectedBody] of [
      [{ domain, years: 2, quote_id }, {}],
      [{ domain: fresh(), quote_id }, {}],
      [{ domain, quote_id: 'quo_none' }, {}],
      [{ domain, quote_id }, { key }],
    ] as const) {
      const answer = await service.send('/domains/register', { body, ...expectedBody })
      expect([answer.status, answer.json.code]).toEqual([409, 'domain/quote'])
    }
  })

  test('survives a restart of the service', async () => {
    const domain = fresh()
    const { quote_id } = (await createQuote({ domain })).json
    await service.restart()
    expect((await buy('/domains/register', { domain, quote_id })).status).toBe(201)
  })

  test.each([
    ['taken', 409, 'domain/taken'],
    ['down', 503, 'domain/registrar'],
  ])('is refused for %s names', async (word, status, code) => {
    const answer = await createQuote({ domain: fresh(word) })
    expect([answer.status, answer.json.code]).toEqual([status, code])
  })
})

test('only the owner can read the auth code of a domain, after unlocking it', async () => {
  const domain = fresh()
  expect((await buy('/domains/register', { domain })).status).toBe(201)
  const code = (body: object = {}) => service.send(`/domains/${domain}/auth-code`, { method: 'POST', ...body })
  expect((await code()).json.code).toBe('domain/state')
  await service.send(`/domains/${domain}/lock`, { method: 'PUT', body: { enabled: false } })
  expect((await code()).json.auth_code).toMatch(/^[\w-]{12}$/)
  expect((await code({ key: secondAccount(service.dataDir).key })).status).toBe(404)
})

describe('a registrar that refuses the order', () => {
  test('turns the money into credits and reports it after the payment', async () => {
    const domain = fresh('taken-at-purchase')
    const before = await credits()
    const answer = await buy('/domains/register', { domain })
    expect([answer.status, answer.json.code]).toEqual([409, 'domain/taken'])
    expect(answer.text).toMatch(/credit/i)
    expect((await credits()) - before).toBe(1_095)
    expect(await listOwned()).not.toContain(domain)
  })

  test.each([
    ['taken', 409, 'domain/taken'],
    ['down', 503, 'domain/registrar'],
  ])('requests no payment for %s names', async (prefix, status, code) => {
    const answer = await ask('/domains/register', { domain: fresh(prefix) })
    expect([answer.status, answer.json.code]).toEqual([status, code])
  })
})

test.each([
  [{ domain: 'x' }],
  [{ domain: 'co.uk' }],
  [{ domain: 'www.example.com' }],
  [{ domain: 'fine.com', years: 0 }],
  [{ domain: 'fine.com', years: 11 }],
  [{ domain: 'fine.com', years: 1.5 }],
  [{ domain: 'fine.com', nameservers: ['ns1.example.net'] }],
  [{ domain: 'fine.com', nameservers: Array.from({ length: 14 }, (_, index) => `ns${index}.example.net`) }],
])('%j is rejected before payment', async (body) => expect((await ask('/domains/register', body)).status).toBe(400))

test('a payment buys no other domain and no order at a higher price', async () => {
  const body = { domain: fresh() }
  const headers = await paymentFor('/domains/register', body)
  const premium = await ask('/domains/register', { domain: fresh('premium') }, headers)
  expect(premium.status).toBe(402)
  const long = await ask('/domains/register', { ...body, years: 10 }, headers)
  expect(long.status).toBe(402)
  expect((await ask('/domains/register', body, headers)).status).toBe(201)
  const otherOrder = await ask('/domains/register', { domain: fresh() }, headers)
  expect([otherOrder.status, otherOrder.json.code]).toEqual([409, 'payments/used'])
})

test('rejects a renewal that ends more than ten years from now before payment', async () => {
  const domain = fresh()
  expect((await buy('/domains/register', { domain, years: 2 })).status).toBe(201)
  const answer = await ask(`/domains/${domain}/renew`, { years: 9 })
  expect([answer.status, answer.json.code]).toEqual([409, 'domain/state'])
  expect((await ask(`/domains/${domain}/renew`, { years: 8 })).status).toBe(402)
})

test('another account cannot renew or read the domain', async () => {
  const domain = fresh()
  expect((await buy('/domains/register', { domain })).status).toBe(201)
  const { key } = secondAccount(service.dataDir)
  for (const [path, body] of [
    [`/domains/${domain}/renew`, {}],
    [`/domains/${domain}`, undefined],
  ] as const) {
    const answer = await service.send(path, { key, ...(body && { body }) })
    expect([answer.status, answer.json.code]).toEqual([404, 'domain/not-found'])
  }
})
