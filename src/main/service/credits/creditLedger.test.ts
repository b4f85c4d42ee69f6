import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Clock, openClock } from '#platform/time/clock.ts'
import { centsToMicroUsd } from '#shared/microUsd.ts'
import { testLedger } from '#test/support/fixtures/testLedger.ts'
import { createCreditLedger } from './creditLedger.ts'
import { createLedgerRepository } from './ledgerRepository.ts'

const hourMs = 3_600_000
const yearMs = 365 * 24 * hourMs
const shift = { wallMs: 0, runningMs: 0 }
let money: Awaited<ReturnType<typeof testLedger>>
let clock: Clock
let ledger: ReturnType<typeof createCreditLedger>

beforeEach(async () => {
  Object.assign(shift, { wallMs: Date.UTC(2026, 0, 10, 12), runningMs: 0 })
  money = await testLedger({ cents: 1_000 })
  clock = openClock({
    source: {
      wallMs: () => shift.wallMs + shift.runningMs,
      runningMs: () => shift.runningMs,
      uptimeMs: () => shift.runningMs,
      bootId: undefined,
    },
    store: { read: () => undefined, write: () => {} },
  })
  let ids = 0
  const newId = () => `txn_of_clock_${++ids}`
  ledger = createCreditLedger({
    ...{ records: createLedgerRepository(money.database), newId, now: clock.now, steadyMs: clock.steadyMs },
  })
})
afterEach(async () => {
  clock.close()
  await money.close()
})

const cents = centsToMicroUsd
const key = { id: 'key_1', dailyLimit: cents(10) }
const hold = (amount: number) =>
  money.commits.commit(() => ledger.hold({ accountId: money.ada, key, amount: cents(amount), model: 'gpt-5.2' }))
const post = (id: number, amount: number) =>
  money.commits.commit(() => ledger.post(id, { amount: cents(amount), details: {} }))

test('a daily limit cannot be spent twice by setting the clock ahead or back', async () => {
  await post((await hold(10)).id, 10)
  for (const jumpMs of [yearMs, -2 * yearMs, yearMs]) {
    shift.wallMs += jumpMs
    await expect(hold(1)).rejects.toMatchObject({ code: 'credits/daily-limit' })
    expect(ledger.sumSpentToday(key.id)).toBe(cents(10))
  }
  shift.runningMs += 13 * hourMs
  clock.check()
  expect((await hold(10)).amount).toBe(cents(10))
})

test('a hold lasts one hour regardless of clock changes', async () => {
  await hold(5)
  shift.wallMs += yearMs
  expect(ledger.expire()).toBe(0)
  shift.runningMs += hourMs
  expect(ledger.expire()).toBe(1)
})
