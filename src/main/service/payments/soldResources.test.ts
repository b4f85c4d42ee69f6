import { expect, test } from 'vitest'
import { AppError } from '#shared/appError.ts'
import { createScriptedFacilitator, never, refuses, settles, unknown } from '#test/support/fakes/scriptedFacilitator.ts'
import { createTestShop, signPayment } from '#test/support/fakes/testShop.ts'
import { testLedger } from '#test/support/fixtures/testLedger.ts'
import { atEndOfFile } from '#test/support/runner/endOfFile.ts'
import type { Facilitator } from './facilitator.ts'

const opened = await testLedger({ cents: 0 })
atEndOfFile(() => opened.close())

let thingCount = 0

const shop = (facilitator: Facilitator, options: Parameters<typeof createTestShop>[2] = {}) =>
  createTestShop(opened, facilitator, { isUnique: true, ...options })
const sign = () => signPayment(opened)
const newThing = () => {
  thingCount += 1
  return `thing ${thingCount}`
}
const credits = () => opened.ledger.balance(opened.ada).posted

test('settles one of two concurrent orders for a resource and rejects the other unpaid', async () => {
  const { facilitator, asked: requests } = createScriptedFacilitator(settles)
  const { buy, things: sold } = shop(facilitator)
  const name = newThing()
  const before = credits()
  const both = await Promise.allSettled([buy(await sign(), name), buy(await sign(), name)])
  expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  expect(
    both.flatMap((promiseSettledResult) =>
      promiseSettledResult.status === 'rejected' ? promiseSettledResult.reason.code : [],
    ),
  ).toEqual(['domain/busy'])
  expect([sold, requests.length, credits() - before]).toEqual([[name], 1, 0])
})

test('leases a resource across restarts until its payment is resolved', async () => {
  const { facilitator, asked: requests } = createScriptedFacilitator(unknown, unknown, settles)
  const name = newThing()
  const first = await sign()
  expect((await shop(facilitator).refusal(first, name)).code).toBe('payments/unknown')
  const later = shop(facilitator)
  await later.restart()
  expect((await later.refusal(await sign(), name)).code).toBe('domain/busy')
  expect((await later.refusal({}, name)).code).toBe('domain/busy')
  expect((await later.buy(first, name)).status).toBe(201)
  expect(new Set(requests.map(({ authorization }) => authorization.nonce)).size).toBe(1)
})

test('releases a resource whose payment is unknown on a network no longer in use', async () => {
  const { facilitator } = createScriptedFacilitator(unknown, settles)
  const name = newThing()
  const first = await sign()
  expect((await shop(facilitator).refusal(first, name)).code).toBe('payments/unknown')
  const network = { ...facilitator.network, id: 'eip155:84532' as const }
  const moved = shop({ ...facilitator, network } as Facilitator)
  await moved.restart()
  expect((await moved.refusal({}, name)).code).toBe('payments/required')

  const back = shop(facilitator)
  await back.restart()
  expect((await back.buy(first, name)).status).toBe(201)
})

test('releases a resource when its payment fails, is refused or its work fails', async () => {
  const { facilitator } = createScriptedFacilitator(refuses, settles)
  const name = newThing()
  let works = false
  const { buy, refusal, restart } = shop(facilitator, {
    work() {
      if (!works) throw new AppError('domain/registrar', 'The registrar did not respond.')
    },
  })
  expect((await refusal(await sign(), name)).fields.reason).toBe('insufficient_funds')
  facilitator.verdict = () => ({ reason: 'invalid_signature', message: 'No.' })
  expect((await refusal(await sign(), name)).fields.reason).toBe('invalid_signature')
  facilitator.verdict = () => undefined
  expect((await refusal(await sign(), name)).code).toBe('domain/registrar')
  works = true
  await restart()
  expect((await buy(await sign(), name)).status).toBe(201)
})

test('releases a resource whose payment was being verified when the process ended', async () => {
  const { facilitator, asked: requests } = createScriptedFacilitator(settles)
  const name = newThing()
  facilitator.verdict = () => new Promise(() => undefined)
  void shop(facilitator)
    .buy(await sign(), name)
    .catch(() => undefined)
  await expect.poll(async () => (await shop(facilitator).refusal({}, name)).code).toBe('domain/busy')
  facilitator.verdict = () => undefined
  const later = shop(facilitator)
  await later.restart()
  expect((await later.buy(await sign(), name)).status).toBe(201)
  expect(requests.length).toBe(1)
})

test('settles no payment for a resource that can no longer be delivered', async () => {
  const { facilitator, asked: requests } = createScriptedFacilitator(settles)
  const name = newThing()
  let exists = false
  const { buy, refusal } = shop(facilitator, {
    assertDeliverable() {
      if (!exists) throw new AppError('sandbox/not-found', 'There is no sandbox.')
    },
  })
  expect((await refusal(await sign(), name)).code).toBe('sandbox/not-found')
  expect(requests.length).toBe(0)
  exists = true
  expect((await buy(await sign(), name)).status).toBe(201)
})

test('sells a resource to one order at a time while a payment hangs', async () => {
  const { facilitator } = createScriptedFacilitator(never)
  const { buy, refusal } = shop(facilitator)
  const name = newThing()
  void buy(await sign(), name).catch(() => undefined)
  await expect.poll(async () => (await refusal(await sign(), name)).code).toBe('domain/busy')
})
