import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { createPayer, type Payer, paymentHeader } from '../support/clients/payer.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'
import type { Answer, RequestFields } from '../support/processes/runningService.ts'
import { createServiceProcess, type ServiceProcess } from '../support/processes/serviceProcess.ts'
import { nameSiloKey, nameSiloServer } from '../support/registrars/nameSiloServer.ts'

/** A service is killed between payment, registration and record. The result is exactly one domain or one credit. */
let registrar: Awaited<ReturnType<typeof nameSiloServer>>
let service: ServiceProcess
let ada: Payer
let names = 0
const priceCents = 1_395

beforeAll(async () => {
  registrar = await nameSiloServer()
  const keyFile = join(temporaryFolder('registrar-key'), 'key')
  writeFileSync(keyFile, `${nameSiloKey}\n`, { mode: 0o600 })
  service = await createServiceProcess(undefined, {
    payments: { facilitator: 'test-ledger' },
    domains: { registrar: { namesilo: { api_key_file: keyFile, url: registrar.url, order_wait_seconds: 0 } } },
  })
  ada = createPayer()
  for (let count = 0; count < 2; count += 1) {
    await service.send('/v1/payments/faucet', { body: { address: ada.address } })
  }
})
afterAll(async () => {
  await service?.close()
  await registrar?.close()
})
afterEach(() => {
  registrar.pauses(undefined)
  registrar.meets(undefined)
})

const money = async () => Number((await service.send(`/v1/payments/balance/${ada.address}`)).json.balance)
const credits = async () => (await service.send('/v1/credits/balance')).json.balance_cents
const never = () => new Promise<never>(() => {})

async function paid(body: object): Promise<RequestFields> {
  const { json } = await service.send('/domains/register', { body })
  const [offer] = json.accepts
  const value = offer.maxAmountRequired.replace(/^0+/, '')
  return { body, headers: paymentHeader(2, await ada.authorize({ to: offer.payTo, value })) }
}

/** Returns the response once the restarted service is no longer processing this payment. */
async function settlePayment(path: string, fields: RequestFields): Promise<Answer> {
  for (;;) {
    const answer = await service.send(path, fields)
    if (answer.json.code !== 'payments/in-flight') return answer
  }
}

/** Resolves at the registrar call in which the service is to be killed. The caller gets no response. */
function waitForRequest(operation: string, count = 1): Promise<void> {
  let remaining = count
  return new Promise((resolve) => {
    registrar.pauses(async ({ path }) => {
      if (!path.endsWith(operation) || --remaining > 0) return
      resolve()
      await never()
    })
  })
}

test.each<[string, () => Promise<void>, 'domain' | 'credit']>([
  ['before it is settled', () => waitForRequest('getDomainInfo'), 'domain'],
  ['before the registrar is asked whether it has the name', () => waitForRequest('getDomainInfo', 2), 'credit'],
  ['before the registrar buys it', () => waitForRequest('registerDomain'), 'credit'],
  ['when the registrar bought it and has not answered', buySilently, 'domain'],
  ['when it is bought and not read yet', () => waitForRequest('getDomainInfo', 3), 'domain'],
])('delivers the domain or its credits if killed %s', async (_, step, outcome) => {
  const domain = `killed-${++names}.com`
  const response = await paid({ domain })
  const before = { money: await money(), credits: await credits() }
  const there = step()
  const cut = service.send('/domains/register', response).catch(() => undefined)
  await there
  const restarted = service.restart('SIGKILL')
  await cut
  registrar.pauses(undefined)
  registrar.meets(undefined)
  await restarted

  const answer = await settlePayment('/domains/register', response)
  expect((await service.send('/domains/register', response)).text).toBe(answer.text)
  const owned = (await service.send('/domains')).json.domains.some((it: { domain: string }) => it.domain === domain)
  const isBought = outcome === 'domain'
  expect([answer.status === 201, owned, registrar.isHeld(domain)]).toEqual([isBought, isBought, isBought])
  expect(registrar.billed.filter((it) => it === `register ${domain}`)).toHaveLength(isBought ? 1 : 0)
  expect((await credits()) - before.credits).toBe(isBought ? 0 : priceCents)
  expect(before.money - (await money())).toBe(priceCents * 10_000)
})

/** Executes the request and never responds. */
function buySilently(): Promise<void> {
  registrar.meets({ at: 'registerDomain', moves: true, how: 'silent' })
  return expect.poll(() => registrar.billed.at(-1), { timeout: 20_000 }).toBe(`register killed-${names}.com`)
}

test('renews a domain once if killed after the registrar completed the renewal', async () => {
  const domain = `killed-${++names}.com`
  expect((await service.send('/domains/register', await paid({ domain }))).status).toBe(201)
  const renewal = `/domains/${domain}/renew`
  const { json } = await service.send(renewal, { body: {} })
  const value = json.accepts[0].maxAmountRequired.replace(/^0+/, '')
  const headers = paymentHeader(2, await ada.authorize({ to: json.accepts[0].payTo, value }))
  registrar.meets({ at: 'renewDomain', moves: true, how: 'silent' })
  const cut = service.send(renewal, { body: {}, headers }).catch(() => undefined)
  await expect.poll(() => registrar.billed.at(-1), { timeout: 20_000 }).toBe(`renew ${domain}`)
  const restarted = service.restart('SIGKILL')
  await cut
  await restarted
  const answer = await settlePayment(renewal, { body: {}, headers })
  expect(answer.status, answer.text).toBe(201)
  const years = new Date(answer.json.expires_at).getUTCFullYear() - new Date().getUTCFullYear()
  expect(years).toBe(2)
  expect(registrar.billed.filter((it) => it === `renew ${domain}`)).toHaveLength(1)
})
