import { afterAll, beforeAll, expect, test } from 'vitest'
import { createPayer, paymentHeader } from '../support/clients/payer.ts'
import { createFakeRuntime } from '../support/fakes/fakeRuntime.ts'
import { type Answer, runningService, type TestService } from '../support/processes/runningService.ts'
import { nameSiloKey, nameSiloServer } from '../support/registrars/nameSiloServer.ts'

/** A sandbox cannot be deleted between the payment of a domain for it and the delivery. */
let registrar: Awaited<ReturnType<typeof nameSiloServer>>
let service: TestService

beforeAll(async () => {
  registrar = await nameSiloServer()
  service = await runningService({
    ...{ runtimeOf: createFakeRuntime, runtimes: ['local'] },
    payments: { facilitator: { kind: 'test-ledger' } },
    registrar: {
      ...{ kind: 'namesilo', apiKey: nameSiloKey, paymentId: undefined, url: registrar.url },
      ...{ isReal: false, settlesWithinMs: 0 },
    },
  })
})
afterAll(async () => {
  await service?.close()
  await registrar?.close()
})

async function order(body: object): Promise<() => Promise<Answer>> {
  const payer = createPayer()
  await service.send('/v1/payments/faucet', { body: { address: payer.address } })
  const { json } = await service.send('/domains/register', { body })
  const [offer] = json.accepts
  const value = offer.maxAmountRequired.replace(/^0+/, '')
  const headers = paymentHeader(1, await payer.authorize({ to: offer.payTo, value }))
  return () => service.send('/domains/register', { body, headers })
}

test('a sandbox is busy during its domain purchase and can be deleted afterwards', async () => {
  const { id } = (await service.send('/v1/sandboxes', { body: { name: 'ordered' } })).json
  await service.send(`/v1/sandboxes/${id}/ports/expose`, { body: { port: 8080 } })
  const remove = () => service.send(`/v1/sandboxes/${id}`, { method: 'DELETE' })
  const pay = await order({ domain: 'ordered.com', sandbox_id: id, sandbox_port: 8080 })
  const registering = Promise.withResolvers<void>()
  const proceed = Promise.withResolvers<void>()
  registrar.pauses(async ({ path }) => {
    if (!path.endsWith('registerDomain')) return
    registering.resolve()
    await proceed.promise
  })
  const paid = pay()
  await registering.promise
  const refused = await remove()
  expect([refused.status, refused.json.code, refused.json.error]).toEqual([
    409,
    'sandbox/busy',
    'A domain is being bought for the sandbox ordered.',
  ])
  proceed.resolve()
  const { status, json, text } = await paid
  expect(status, text).toBe(201)
  expect(json.sandbox).toMatchObject({ sandbox_id: id, port: 8080, error: null })
  expect((await remove()).status).toBe(200)
})

test('does not charge a domain for a sandbox deleted before the payment', async () => {
  const { id } = (await service.send('/v1/sandboxes', { body: { name: 'gone' } })).json
  await service.send(`/v1/sandboxes/${id}/ports/expose`, { body: { port: 8080 } })
  const pay = await order({ domain: 'not-ordered.com', sandbox_id: id, sandbox_port: 8080 })
  expect((await service.send(`/v1/sandboxes/${id}`, { method: 'DELETE' })).status).toBe(200)
  const { status, json } = await pay()
  expect([status, json.code]).toEqual([404, 'sandbox/not-found'])
  expect(registrar.billed).not.toContain('register not-ordered.com')
})
