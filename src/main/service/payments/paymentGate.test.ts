import { expect, test } from 'vitest'
import { AppError } from '#shared/appError.ts'
import {
  createScriptedFacilitator,
  never,
  refuses,
  settles,
  transaction,
  unknown,
} from '#test/support/fakes/scriptedFacilitator.ts'
import { createTestShop, price, signPayment } from '#test/support/fakes/testShop.ts'
import { testLedger } from '#test/support/fixtures/testLedger.ts'
import { atEndOfFile } from '#test/support/runner/endOfFile.ts'
import type { Facilitator } from './facilitator.ts'
import { waitingMs } from './paymentBooks.ts'
import { paymentRepository } from './paymentRepository.ts'

const opened = await testLedger({ cents: 0 })
atEndOfFile(() => opened.close())

const shop = (facilitator: Facilitator, options?: Parameters<typeof createTestShop>[2]) =>
  createTestShop(opened, facilitator, options)
const credits = () => opened.ledger.balance(opened.ada).posted
const sign = () => signPayment(opened)
/** Leaves the work pending, as after the process was killed at that point. */
const ignoreRejection = (work: Promise<unknown>) => void work.catch(() => undefined)

test('delivers a purchase once and replays the response on repetition', async () => {
  const { facilitator, asked: requests } = createScriptedFacilitator(settles)
  const { buy, refusal, things: delivered } = shop(facilitator)
  const header = await sign()
  const first = await buy(header)
  expect(first).toMatchObject({ status: 201, body: '{"thing":"a clock"}' })
  expect(await buy(header)).toEqual(first)
  expect(await shop(facilitator).buy(header)).toEqual(first)
  expect((await refusal(header, 'a lamp')).code).toBe('payments/used')
  expect([delivered, requests.length]).toEqual([['a clock'], 1])
})

test('one Idempotency-Key buys once, even with a new payment on each repetition', async () => {
  const { facilitator, asked: requests } = createScriptedFacilitator(settles)
  const { ask, buy, refusal, things: delivered } = shop(facilitator)
  const key = { 'idempotency-key': 'order-1' }
  expect((await refusal(key)).code).toBe('payments/required')
  const first = await buy({ ...(await sign()), ...key })
  for (const again of [{ ...(await sign()), ...key }, key]) {
    const { status, body, headers } = await buy(again)
    expect([status, body]).toEqual([201, first.body])
    expect(headers).toMatchObject({ ...first.headers, 'idempotent-replayed': 'true' })
  }
  expect((await shop(facilitator).buy(key)).body).toBe(first.body)
  expect(await refusal({ ...(await sign()), ...key }, 'a lamp')).toMatchObject({
    code: 'request/reused-key',
    status: 409,
  })
  await expect(ask({ 'idempotency-key': 'k'.repeat(200) })).rejects.toMatchObject({ code: 'request/invalid' })
  expect([delivered, requests.length]).toEqual([['a clock'], 1])
})

test('a key rejects other payments until its payment is resolved or its order fails', async () => {
  const { facilitator, asked: requests } = createScriptedFacilitator(unknown, unknown, settles, settles)
  const key = { 'idempotency-key': 'order-2' }
  const { buy, refusal, things: delivered } = shop(facilitator)
  for (let attempt = 0; attempt < 2; attempt += 1) {
    expect((await refusal({ ...(await sign()), ...key })).code).toBe('payments/unknown')
  }
  expect((await buy(key)).status).toBe(201)
  expect([delivered, new Set(requests.map(({ authorization }) => authorization.nonce)).size]).toEqual([['a clock'], 1])
  const otherHeaders = { 'idempotency-key': 'order-3' }
  let fails = true
  const failing = shop(facilitator, {
    work() {
      if (fails) throw new AppError('domain/taken', 'It is taken.')
    },
  })
  expect((await failing.refusal({ ...(await sign()), ...otherHeaders })).code).toBe('domain/taken')
  fails = false
  expect((await failing.refusal(otherHeaders)).code).toBe('payments/required')
})

test('accepts an x402 payment identifier as a key and declares it in offers', async () => {
  const { facilitator, asked: requests } = createScriptedFacilitator(settles)
  const { buy, refusal, things: delivered } = shop(facilitator)
  const { headers } = await refusal({})
  const demand = JSON.parse(Buffer.from(String(headers['payment-required']), 'base64').toString())
  const declared = demand.extensions['payment-identifier']
  expect(declared).toMatchObject({ info: { required: false }, schema: { required: ['required'] } })
  const buyIdentified = async (id: string) => {
    const header = (await sign())['payment-signature'] ?? ''
    const payment = JSON.parse(Buffer.from(header, 'base64').toString())
    const extensions = { 'payment-identifier': { ...declared, info: { ...declared.info, id } } }
    const text = JSON.stringify({ ...payment, extensions })
    return { 'payment-signature': Buffer.from(text).toString('base64') }
  }
  const first = await buy(await buyIdentified('order_0123456789abcdef'))
  expect((await buy(await buyIdentified('order_0123456789abcdef'))).body).toBe(first.body)
  expect([delivered, requests.length]).toEqual([['a clock'], 1])
  expect((await refusal(await buyIdentified('short'))).code).toBe('payments/malformed')
})

test('settles one of two concurrent payments with the same key', async () => {
  const { facilitator, asked: requests } = createScriptedFacilitator(settles)
  const { buy, things: delivered } = shop(facilitator)
  const key = { 'idempotency-key': 'order-4' }
  const both = await Promise.allSettled([buy({ ...(await sign()), ...key }), buy({ ...(await sign()), ...key })])
  expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  expect(
    both.flatMap((promiseSettledResult) =>
      promiseSettledResult.status === 'rejected' ? promiseSettledResult.reason.code : [],
    ),
  ).toEqual(['payments/in-flight'])
  expect([delivered, requests.length]).toEqual([['a clock'], 1])
})

test('returns 503 for an unknown outcome and resumes the same payment', async () => {
  const { facilitator, asked: requests } = createScriptedFacilitator(unknown, unknown, settles)
  const { buy, refusal, things: delivered } = shop(facilitator)
  const header = await sign()
  for (const again of [false, true]) {
    const { status, code, retryAfterSeconds } = await refusal(header)
    expect({ status, code, retryAfterSeconds }).toEqual({ status: 503, code: 'payments/unknown', retryAfterSeconds: 5 })
    expect(requests.at(-1)?.again).toBe(again)
  }
  expect((await refusal(header, 'a lamp')).code).toBe('payments/used')
  expect((await buy(header)).status).toBe(201)
  expect([delivered, requests.length]).toEqual([['a clock'], 3])
})

test('returns 402 and sells nothing when an unknown outcome turns out unpaid', async () => {
  const { facilitator } = createScriptedFacilitator(unknown, refuses)
  const { refusal, things: delivered } = shop(facilitator)
  const header = await sign()
  expect((await refusal(header)).status).toBe(503)
  const refused = await refusal(header)
  expect([refused.status, refused.fields.reason]).toEqual([402, 'insufficient_funds'])
  expect(delivered).toEqual([])
})

test('accepts a failed payment again because it moved no funds', async () => {
  const { facilitator, asked: requests } = createScriptedFacilitator(refuses, settles)
  const { buy, refusal } = shop(facilitator)
  const header = await sign()
  expect((await refusal(header)).status).toBe(402)
  expect((await buy(header)).status).toBe(201)
  expect(requests.map(({ again }) => again)).toEqual([false, false])
})

test('returns 503 when a payment cannot be verified and stores nothing', async () => {
  const { facilitator, asked: requests } = createScriptedFacilitator(settles)
  const { buy, refusal } = shop(facilitator)
  const header = await sign()
  facilitator.verdict = () => Promise.reject(new Error('The node is away.'))
  expect((await refusal(header)).code).toBe('payments/unknown')
  facilitator.verdict = () => undefined
  expect((await buy(header)).status).toBe(201)
  expect(requests).toHaveLength(1)
})

test('credits the amount once when the work fails and reports it', async () => {
  const before = credits()
  const work = () => {
    throw new AppError('port/taken', 'Somebody was faster.')
  }
  const { buy, refusal } = shop(createScriptedFacilitator(settles).facilitator, { work })
  const header = await sign()
  const error = await refusal(header)
  expect(error).toMatchObject({
    code: 'port/taken',
    detail: 'The payment of $2.00 was added to your credits.',
    fields: { credited_cents: 200, tx_hash: transaction },
  })
  expect(await buy(header)).toMatchObject({ status: 409, body: JSON.stringify(error.toBody()) })
  expect(credits() - before).toBe(price)
})

test('hides the details of an unexpected error', async () => {
  const work = () => {
    throw new Error('secret')
  }
  const { refusal, failures } = shop(createScriptedFacilitator(settles).facilitator, { work })
  const error = await refusal(await sign())
  expect([error.code, JSON.stringify(error.toBody()).includes('secret')]).toEqual(['internal/unexpected', false])
  expect(failures).toHaveLength(1)
})

test('rejects a duplicate with Retry-After while the payment is being settled', async () => {
  let go: () => void = () => undefined
  const { facilitator, asked: requests } = createScriptedFacilitator(
    () =>
      new Promise((resolve) => {
        go = () => resolve({ state: 'settled', transaction })
      }),
  )
  const { buy, refusal } = shop(facilitator)
  const header = await sign()
  const first = buy(header)
  await expect.poll(() => requests.length).toBe(1)
  const { status, headers } = await refusal(header)
  expect([status, headers['retry-after']]).toEqual([409, '1'])
  go()
  expect((await first).status).toBe(201)
  expect(requests).toHaveLength(1)
})

test('after a crash during verification discards the payment without moving funds', async () => {
  const { facilitator } = createScriptedFacilitator(settles)
  facilitator.verdict = () => new Promise(() => undefined)
  const header = await sign()
  ignoreRejection(shop(facilitator).buy(header))
  const next = createScriptedFacilitator(settles)
  const { restart, buy } = shop(next.facilitator)
  await expect.poll(count).toBe(1)
  await restart()
  expect([count(), next.asked.length]).toEqual([0, 0])
  expect((await buy(header)).status).toBe(201)
})
const count = () =>
  Number(opened.database.prepare(`SELECT count(*) FROM payments WHERE state = 'verifying'`).pluck().get())

test('after a crash during settlement settles on restart and delivers on repetition', async () => {
  const before = credits()
  const first = createScriptedFacilitator(never)
  const header = await sign()
  ignoreRejection(shop(first.facilitator).buy(header))
  await expect.poll(() => first.asked.length).toBe(1)
  const { facilitator, asked: requested } = createScriptedFacilitator(settles)
  const { restart, buy, things: delivered } = shop(facilitator)
  await restart()
  expect(requested.map(({ again }) => again)).toEqual([true])
  await restart()
  expect((await buy(header)).status).toBe(201)
  expect([delivered, requested.length, credits() - before]).toEqual([['a clock'], 1, 0])
})

test('after a crash during settlement credits an unclaimed payment once after a delay', async () => {
  const before = credits()
  const first = createScriptedFacilitator(never)
  const header = await sign()
  ignoreRejection(shop(first.facilitator).buy(header))
  await expect.poll(() => first.asked.length).toBe(1)
  const { restart, buy, things: delivered } = shop(createScriptedFacilitator(settles).facilitator)
  await restart()
  opened.clock.nowMs += waitingMs
  await restart()
  await restart()
  expect(credits() - before).toBe(price)
  expect((await buy(header)).status).toBe(500)
  expect([delivered, credits() - before]).toEqual([[], price])
})

test('after a crash during the work credits the amount once on restart', async () => {
  const before = credits()
  const header = await sign()
  const { ask } = shop(createScriptedFacilitator(settles).facilitator)
  expect((await ask(header)).paid).toHaveProperty('settlement')
  const { restart, buy } = shop(createScriptedFacilitator(settles).facilitator)
  await restart()
  await restart()
  expect(await buy(header)).toMatchObject({ status: 500, body: expect.stringContaining('added to your credits') })
  expect(credits() - before).toBe(price)
})

test('after a crash before the response was stored restores it', async () => {
  const before = credits()
  const header = await sign()
  await shop(createScriptedFacilitator(settles).facilitator).ask(header)
  const {
    restart,
    buy,
    things: delivered,
  } = shop(createScriptedFacilitator(settles).facilitator, { wasDone: () => true })
  await restart()
  expect(await buy(header)).toMatchObject({ status: 201, body: '{"thing":"a clock"}' })
  expect([delivered, credits() - before]).toEqual([[], 0])
})

test('recovery skips a payment that a request completed in the meantime', async () => {
  const before = credits()
  const header = await sign()
  const { buy, refusal, reconcile, things: delivered } = shop(createScriptedFacilitator(unknown, settles).facilitator)
  expect((await refusal(header)).status).toBe(503)
  const [row] = opened.database.prepare(`SELECT id FROM payments WHERE state = 'unknown'`).pluck().all()
  const stale = await paymentRepository.get(opened.data.read, String(row))
  expect((await buy(header)).status).toBe(201)
  if (!stale) throw new Error('It was not kept.')
  await reconcile(stale)
  expect((await buy(header)).status).toBe(201)
  expect([delivered, credits() - before]).toEqual([['a clock'], 0])
})

test('a repeated payment is completed before recovery processes it', async () => {
  const header = await sign()
  await shop(createScriptedFacilitator(settles).facilitator).ask(header)
  const { buy } = shop(createScriptedFacilitator(settles).facilitator, { wasDone: () => true })
  expect((await buy(header)).status).toBe(201)
})
