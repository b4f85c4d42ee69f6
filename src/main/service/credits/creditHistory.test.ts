import { afterAll, beforeAll, expect, test } from 'vitest'
import { AccountId } from '#shared/ids.ts'
import { toMicroUsd } from '#shared/microUsd.ts'
import { testLedger } from '#test/support/fixtures/testLedger.ts'
import { type CreditHistory, createCreditHistory } from './creditHistory.ts'

/** More entries than fit on the first pages, interleaved with entries of another account. */
const charges = 7_000
let ledger: Awaited<ReturnType<typeof testLedger>>
let history: CreditHistory
const bob = AccountId.parse('bob')

beforeAll(async () => {
  ledger = await testLedger({ cents: 100_000 })
  history = createCreditHistory(ledger.history)
  const charge = (index: number) => {
    const model = index % 100 === 0 ? 'rare' : 'usual'
    const { id } = ledger.ledger.hold({ accountId: ledger.ada, key: undefined, amount: toMicroUsd(1), model })
    ledger.ledger.post(id, { amount: toMicroUsd(1), details: { index } })
    if (index % 10 === 0) {
      ledger.ledger.issue({ type: 'grant', to: bob, amount: toMicroUsd(1), note: 'bob', requestKey: undefined })
    }
  }
  ledger.database.transaction(() => Array.from({ length: charges }, (_, index) => charge(index))).immediate()
})
afterAll(() => ledger.close())

const page = (options: { filters?: object; limit?: number; offset?: number; signal?: AbortSignal }) =>
  history.page({ accountId: ledger.ada, filters: {}, limit: 10, offset: 0, ...options })
const indexes = (rows: { details: string | null }[]) => rows.map(({ details }) => JSON.parse(details ?? '{}').index)

test('reads across chunk boundaries', async () => {
  const { transfers, total } = await page({ offset: 1_995 })
  expect(total).toBe(charges + 1)
  expect(indexes(transfers)).toEqual(Array.from({ length: 10 }, (_, index) => charges - 1 - 1_995 - index))
  expect((await page({ offset: charges - 4 })).transfers).toHaveLength(5)
  expect((await page({ offset: charges + 1 })).transfers).toEqual([])
})

test('finds and counts rare entries across the whole history', async () => {
  const { transfers, total } = await page({ filters: { model: 'rare' }, offset: 15, limit: 20 })
  expect(total).toBe(charges / 100)
  expect(indexes(transfers)).toEqual(Array.from({ length: 20 }, (_, index) => charges - 100 - (15 + index) * 100))
})

test('yields each entry once and none of another account', async () => {
  const seen: number[] = []
  for await (const rows of history.rows({ accountId: ledger.ada, filters: { type: 'inference' } })) {
    expect(rows.length).toBeLessThanOrEqual(200)
    seen.push(...indexes(rows))
  }
  expect(seen).toEqual(Array.from({ length: charges }, (_, index) => charges - 1 - index))
})

test('stops when the requester disconnects', async () => {
  const reason = new Error('gone')
  await expect(page({ filters: { text: 'x' }, signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
})
