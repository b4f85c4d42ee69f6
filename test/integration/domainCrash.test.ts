import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type Payer, payer, paymentHeader } from '../support/payer.ts'
import { nameSiloKey, nameSiloServer } from '../support/registrars/nameSiloServer.ts'
import type { Answer, Sent } from '../support/runningService.ts'
import { type ServiceProcess, serviceProcess } from '../support/serviceProcess.ts'
import { temporaryFolder } from '../support/temporaryFolder.ts'

/** A service that is killed between payment, registrar and record: one domain or one credit, never both, never none. */
let registrar: Awaited<ReturnType<typeof nameSiloServer>>
let service: ServiceProcess
let ada: Payer
let names = 0
const priceCents = 1_395

beforeAll(async () => {
  registrar = await nameSiloServer()
  const keyFile = join(temporaryFolder('registrar-key'), 'key')
  writeFileSync(keyFile, `${nameSiloKey}\n`, { mode: 0o600 })
  service = await serviceProcess(undefined, {
    payments: { facilitator: 'test-ledger' },
    domains: { registrar: { namesilo: { api_key_file: keyFile, url: registrar.url, order_wait_seconds: 0 } } },
  })
  ada = payer()
  for (let given = 0; given < 2; given += 1) {
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

async function paid(body: object): Promise<Sent> {
  const { json } = await service.send('/domains/register', { body })
  const [offer] = json.accepts
  const value = offer.maxAmountRequired.replace(/^0+/, '')
  return { body, headers: paymentHeader(2, await ada.authorize({ to: offer.payTo, value })) }
}

/** The answer, once the service that started again is not at this payment itself. */
async function settled(path: string, sent: Sent): Promise<Answer> {
  for (;;) {
    const answer = await service.send(path, sent)
    if (answer.json.code !== 'payments/in-flight') return answer
  }
}

/** Resolves at the call of the registrar in which the service is to end; the caller gets no answer of it. */
function reached(operation: string, at = 1): Promise<void> {
  let left = at
  return new Promise((resolve) => {
    registrar.pauses(async ({ path }) => {
      if (!path.endsWith(operation) || --left > 0) return
      resolve()
      await never()
    })
  })
}

test.each<[string, () => Promise<void>, 'domain' | 'credit']>([
  ['before it is settled', () => reached('getDomainInfo'), 'domain'],
  ['before the registrar is asked whether it has the name', () => reached('getDomainInfo', 2), 'credit'],
  ['before the registrar buys it', () => reached('registerDomain'), 'credit'],
  ['when the registrar bought it and has not answered', boughtSilently, 'domain'],
  ['when it is bought and not read yet', () => reached('getDomainInfo', 3), 'domain'],
])('killed %s', async (_, step, outcome) => {
  const domain = `killed-${++names}.com`
  const sent = await paid({ domain })
  const before = { money: await money(), credits: await credits() }
  const there = step()
  const cut = service.send('/domains/register', sent).catch(() => undefined)
  await there
  const restarted = service.restart('SIGKILL')
  await cut
  registrar.pauses(undefined)
  registrar.meets(undefined)
  await restarted

  const answer = await settled('/domains/register', sent)
  expect((await service.send('/domains/register', sent)).text).toBe(answer.text)
  const owned = (await service.send('/domains')).json.domains.some((it: { domain: string }) => it.domain === domain)
  const isBought = outcome === 'domain'
  expect([answer.status === 201, owned, registrar.isHeld(domain)]).toEqual([isBought, isBought, isBought])
  expect(registrar.billed.filter((it) => it === `register ${domain}`)).toHaveLength(isBought ? 1 : 0)
  expect((await credits()) - before.credits).toBe(isBought ? 0 : priceCents)
  expect(before.money - (await money())).toBe(priceCents * 10_000)
})

/** It does what it is asked for, and the answer never comes. */
function boughtSilently(): Promise<void> {
  registrar.meets({ at: 'registerDomain', moves: true, how: 'silent' })
  return expect.poll(() => registrar.billed.at(-1), { timeout: 20_000 }).toBe(`register killed-${names}.com`)
}

test('killed in a renewal that was done, it is renewed once', async () => {
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
  const answer = await settled(renewal, { body: {}, headers })
  expect(answer.status, answer.text).toBe(201)
  const years = new Date(answer.json.expires_at).getUTCFullYear() - new Date().getUTCFullYear()
  expect(years).toBe(2)
  expect(registrar.billed.filter((it) => it === `renew ${domain}`)).toHaveLength(1)
})
