import { execFile } from 'node:child_process'
import { request } from 'node:http'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createPayer, type Payer, paymentHeader } from '../support/clients/payer.ts'
import { secondAccount } from '../support/fixtures/secondAccount.ts'
import { type Answer, runningService, type TestService } from '../support/processes/runningService.ts'

/** A domain is bought and pointed at a port of a sandbox in one request. */
const run = promisify(execFile)
let service: TestService
let ada: Payer
let sandboxId: string

beforeAll(async () => {
  service = await runningService({
    dnsListen: { host: '127.0.0.1', port: 0 },
    payments: { facilitator: { kind: 'test-ledger' } },
  })
  ada = createPayer()
  await service.send('/v1/payments/faucet', { body: { address: ada.address } })
  const sandbox = await service.send('/v1/sandboxes', { body: { name: 'shop' } })
  expect(sandbox.status, sandbox.text).toBe(201)
  sandboxId = sandbox.json.id
  await service.send(`/v1/sandboxes/${sandboxId}/ports/expose`, { body: { port: 8000 } })
})
afterAll(() => service?.close())

const ask = (body: object, options: object = {}) => service.send('/domains/register', { body, ...options })
async function buy(body: object): Promise<Answer> {
  const { json } = await ask(body)
  const value = json.accepts[0].maxAmountRequired.replace(/^0+/, '')
  return ask(body, { headers: paymentHeader(2, await ada.authorize({ to: json.accepts[0].payTo, value })) })
}
const statusAt = (host: string): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    request(service.url, { headers: { host }, agent: false }, (answer) => resolve(answer.resume().statusCode))
      .on('error', reject)
      .end()
  })

test('the domain routes to the port and its DNS points to this computer', async () => {
  const domain = 'bought-shop.com'
  const answer = await buy({ domain, sandbox_id: sandboxId, sandbox_port: 8000 })
  expect(answer.status, answer.text).toBe(201)
  const url = `http://${domain}:${new URL(service.url).port}`
  expect(answer.json.sandbox).toEqual({ sandbox_id: sandboxId, port: 8000, url, verified: true, error: null })
  expect(await statusAt(domain)).toBe(502) // no listener
  expect(await statusAt('other-shop.com')).toBe(403)
  const { stdout } = await run('dig', ['@127.0.0.1', '-p', String(service.dnsPort), '+short', '+tries=1', domain])
  expect(stdout.trim()).toBe('127.0.0.1')
})

test('a test registry domain is proved by ownership, but not for other accounts', async () => {
  const domain = 'www.bought-shop.com'
  const path = `/v1/sandboxes/${sandboxId}/domains`
  expect((await service.send(path, { body: { domain } })).json).toMatchObject({ domain, verified: true })
  const stranger = secondAccount(service.dataDir).key
  expect(
    (await ask({ domain: 'x-shop.com', sandbox_id: sandboxId, sandbox_port: 8000 }, { key: stranger })).status,
  ).toBe(404)
})

test.each([
  [{ sandbox_port: 8000 }, 400],
  [{ sandbox_id: 'f'.repeat(32), sandbox_port: 8000 }, 404],
  [{ sandbox_id: 'none', sandbox_port: 8000 }, 404],
])('%j is rejected before payment', async (body, status) => {
  expect((await ask({ domain: 'never-shop.com', ...body })).status).toBe(status)
})

test('rejects an unexposed port before payment', async () => {
  const answer = await ask({ domain: 'never-shop.com', sandbox_id: sandboxId, sandbox_port: 8001 })
  expect([answer.status, answer.json.code]).toEqual([404, 'port/not-found'])
})
