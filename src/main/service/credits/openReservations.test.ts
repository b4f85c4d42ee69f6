import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { centsToMicroUsd, toMicroUsd } from '#shared/microUsd.ts'
import { testLedger } from '#test/support/fixtures/testLedger.ts'
import type { Reservation } from './creditReservations.ts'

let ledger: Awaited<ReturnType<typeof testLedger>>
const cents = (amount: number) => amount * 10_000
const balance = () => ledger.ledger.balance(ledger.ada)
const newest = (limit: number) => ledger.history.stretch(ledger.ada, {}, { above: 0, below: 2 ** 53, limit, offset: 0 })
const charge = (amount: number) => ({ amountMicroUsd: centsToMicroUsd(amount), estimated: false })

beforeEach(async () => {
  ledger = await testLedger({
    keys: {
      free: { models: null, dailyLimit: null },
      small: { models: null, dailyLimit: centsToMicroUsd(30) },
      one: { models: ['gpt-5.2'], dailyLimit: null },
    },
  })
})
afterEach(() => ledger.close())

test('held credits are unavailable, and the actual cost is charged', async () => {
  const reservation = await ledger.reserve(40)
  expect(balance()).toEqual({ posted: cents(100), held: cents(40), available: cents(60) })
  const details = { prompt_tokens: 12 }
  expect(await reservation.settle({ amountMicroUsd: toMicroUsd(123_457), estimated: false, details })).toEqual({
    chargedMicroUsd: 123_457,
    written: true,
  })
  expect(balance()).toEqual({ posted: 876_543, held: 0, available: 876_543 })
  expect(await newest(1)).toMatchObject([
    { type: 'inference', amount: 123_457, description: 'gpt-5.2', details: '{"prompt_tokens":12,"estimated":false}' },
  ])
})

test('two hundred concurrent holds cannot overdraw a small balance', async () => {
  const answers = await Promise.allSettled(Array.from({ length: 200 }, () => ledger.reserve(7)))
  const reservations = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []))
  expect(reservations).toHaveLength(14)
  expect(balance()).toEqual({ posted: cents(100), held: cents(98), available: cents(2) })
  await Promise.all(reservations.map((reservation) => reservation.settle(charge(7))))
  expect(balance()).toEqual({ posted: cents(2), held: 0, available: cents(2) })
})

test('two hundred reservations for a quarter of the remaining credits shrink without overdrawing', async () => {
  const reserve = () =>
    ledger.reservations.reserve({
      ...{ accountId: ledger.ada, keyId: undefined, model: 'gpt-5.2' },
      worstCaseMicroUsd: (spendable) => toMicroUsd(Math.floor(spendable / 4)),
    })
  const reservations = await Promise.all(Array.from({ length: 200 }, reserve))
  const sum = reservations.reduce((total, { heldMicroUsd }) => total + heldMicroUsd, 0)
  expect(reservations[0]?.heldMicroUsd).toBe(cents(25))
  expect(balance()).toMatchObject({ held: sum, available: cents(100) - sum })
})

describe('refuses', () => {
  test('a plan beyond the credits or the limit of the key', async () => {
    const plan = (keyId?: string) =>
      ledger.reservations.reserve({
        ...{ accountId: ledger.ada, keyId, model: 'gpt-5.2' },
        worstCaseMicroUsd: (spendable) => (spendable < cents(50) ? undefined : toMicroUsd(cents(50))),
      })
    await expect(plan('small')).rejects.toMatchObject({ code: 'credits/daily-limit' })
    await plan()
    await plan()
    await expect(plan()).rejects.toMatchObject({
      code: 'credits/insufficient',
      detail:
        'This request costs more than the available credits: 0 cents are available. Running requests hold 100 cents.',
    })
  })

  test('a request below the minimum balance of ten cents', async () => {
    await (await ledger.reserve(95)).settle(charge(95))
    await expect(ledger.reserve(1)).rejects.toMatchObject({
      code: 'credits/insufficient',
      status: 402,
      message: 'Insufficient credits',
      detail: 'Minimum balance of 10 cents required. Current balance: 5 cents.',
    })
    expect((await ledger.reserve(0)).heldMicroUsd).toBe(0)
  })

  test('an amount held by other requests, without leaving a record', async () => {
    await ledger.reserve(60)
    await expect(ledger.reserve(41)).rejects.toMatchObject({
      detail: '41 cents are required, but only 40 cents are available. Running requests hold 60 cents.',
    })
    expect(balance()).toEqual({ posted: cents(100), held: cents(60), available: cents(40) })
    expect(ledger.database.prepare('SELECT count(*) AS holds FROM credit_holds').get()).toEqual({ holds: 1 })
  })

  test('a model that the key may not use and a revoked key', async () => {
    await expect(ledger.reserve(1, 'one', 'kimi-k2.5')).rejects.toMatchObject({ code: 'key/model', status: 403 })
    await expect(ledger.reserve(1, 'gone')).rejects.toMatchObject({ code: 'auth/invalid', status: 401 })
    expect((await ledger.reserve(1, 'one')).heldMicroUsd).toBe(cents(1))
  })

  test('an amount over the daily limit of the key, holds included', async () => {
    const first = await ledger.reserve(20, 'small')
    await expect(ledger.reserve(11, 'small')).rejects.toMatchObject({
      code: 'credits/daily-limit',
      status: 402,
      detail: '10 of 30 cents remain until 00:00 UTC.',
    })
    expect(await ledger.reservations.spendable({ accountId: ledger.ada, keyId: 'small' })).toBe(cents(10))
    await first.settle(charge(5))
    await ledger.reserve(25, 'small')
    await expect(ledger.reserve(1, 'small')).rejects.toMatchObject({ code: 'credits/daily-limit' })
    expect((await ledger.reserve(1, 'free')).heldMicroUsd).toBe(cents(1))
    ledger.clock.nowMs += 12 * 3_600_000
    expect((await ledger.reserve(30, 'small')).heldMicroUsd).toBe(cents(30))
  })

  test('parallel requests over the limit of a key', async () => {
    const answers = await Promise.allSettled(Array.from({ length: 50 }, () => ledger.reserve(4, 'small')))
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(7)
  })
})

describe('a hold ends only once', () => {
  test('despite later settle or release calls', async () => {
    const settled = await ledger.reserve(10)
    await settled.settle(charge(3))
    await settled.settle(charge(9))
    await settled.release()
    const released = await ledger.reserve(10)
    await Promise.all([released.release(), released.release(), released.settle(charge(9))])
    expect(balance()).toEqual({ posted: cents(97), held: 0, available: cents(97) })
  })

  test('at expiry if unsettled, and a late settle charges the available credits', async () => {
    const late = await ledger.reserve(90)
    ledger.clock.nowMs += 3_600_000
    await ledger.commits.commit(() => ledger.ledger.expire())
    expect(balance()).toMatchObject({ held: 0, available: cents(100) })
    await (await ledger.reserve(80)).settle(charge(80))
    expect(await late.settle(charge(90))).toEqual({ chargedMicroUsd: cents(20), written: true })
    await late.settle(charge(90))
    expect(balance()).toEqual({ posted: 0, held: 0, available: 0 })
  })

  test('in full at the next start if the process exited', async () => {
    await ledger.reserve(25)
    await ledger.reserve(5)
    const path = ledger.path
    await ledger.close()
    ledger = await testLedger({ file: path })
    expect(await ledger.commits.commitDurable(() => ledger.ledger.recover())).toBe(2)
    expect(await ledger.commits.commitDurable(() => ledger.ledger.recover())).toBe(0)
    expect(balance()).toEqual({ posted: cents(70), held: 0, available: cents(70) })
    expect(await newest(2)).toMatchObject([
      { amount: cents(5), details: '{"estimated":true,"interrupted":true}' },
      { amount: cents(25) },
    ])
  })
})

test('charges at most 110 % of the hold, and records the rest as uncollected', async () => {
  const reservation = await ledger.reserve(10)
  expect(await reservation.settle(charge(99_999_000))).toEqual({ chargedMicroUsd: cents(11), written: true })
  expect((await newest(1))[0]?.details).toBe('{"estimated":false,"uncollected_micro_usd":999989890000}')
  expect(balance()).toEqual({ posted: cents(89), held: 0, available: cents(89) })
})

test('cost above the hold is charged up to the balance and key limit', async () => {
  const limited = await ledger.reserve(29, 'small')
  expect(await limited.settle(charge(50))).toEqual({ chargedMicroUsd: cents(30), written: true })
  const rest = await ledger.reserve(65)
  expect(await rest.settle(charge(500))).toEqual({ chargedMicroUsd: cents(70), written: true })
  expect((await newest(1))[0]?.details).toBe('{"estimated":false,"uncollected_micro_usd":4300000}')
  expect(balance()).toEqual({ posted: 0, held: 0, available: 0 })
})

test('a charge is refunded once, in parts or as a whole', async () => {
  await (await ledger.reserve(50)).settle(charge(50))
  const transactionId = (await newest(1))[0]?.id ?? ''
  const refund = (amount?: number) =>
    ledger.commits.commitDurable(() =>
      ledger.ledger.refund({
        ...{ transactionId, note: '', requestKey: undefined },
        amount: amount === undefined ? undefined : centsToMicroUsd(amount),
      }),
    )
  await refund(20)
  await expect(refund(31)).rejects.toMatchObject({ code: 'credits/refund', status: 409 })
  expect((await refund()).amount).toBe(cents(30))
  await expect(refund()).rejects.toMatchObject({ code: 'credits/refund' })
  expect(balance()).toMatchObject({ posted: cents(100) })
})

test('a settlement that the disk rejects is written once the disk accepts it', async () => {
  const reservation: Reservation = await ledger.reserve(10)
  ledger.database.exec(
    `CREATE TRIGGER full BEFORE INSERT ON credit_transfers BEGIN SELECT RAISE(ABORT, 'disk is full'); END`,
  )
  expect(await reservation.settle(charge(4))).toEqual({ chargedMicroUsd: cents(4), written: false })
  expect(balance()).toMatchObject({ posted: cents(100), held: cents(10) })
  ledger.database.exec('DROP TRIGGER full')
  await expect
    .poll(() => balance(), { timeout: 60_000 })
    .toEqual({
      posted: cents(96),
      held: 0,
      available: cents(96),
    })
})
