import { afterAll, beforeAll, expect, test } from 'vitest'
import { AccountId } from '#shared/ids.ts'
import { microUsd } from '#shared/microUsd.ts'
import { testLedger } from '#test/support/testLedger.ts'
import { type CreditHistory, creditHistory } from './creditHistory.ts'

/** More entries than the first stretches hold, and some of somebody else between them. */
const charges = 7_000
let at: Awaited<ReturnType<typeof testLedger>>
let history: CreditHistory
const bob = AccountId.parse('bob')

beforeAll(async () => {
  at = await testLedger({ cents: 100_000 })
  history = creditHistory(at.history)
  const charge = (index: number) => {
    const model = index % 100 === 0 ? 'rare' : 'usual'
    const { id } = at.ledger.hold({ accountId: at.ada, key: undefined, amount: microUsd(1), model })
    at.ledger.post(id, { amount: microUsd(1), details: { index } })
    if (index % 10 === 0) {
      at.ledger.issue({ type: 'grant', to: bob, amount: microUsd(1), note: 'bob', requestKey: undefined })
    }
  }
  at.database.transaction(() => Array.from({ length: charges }, (_, index) => charge(index))).immediate()
})
afterAll(() => at.close())

const page = (given: { filters?: object; limit?: number; offset?: number; signal?: AbortSignal }) =>
  history.page({ accountId: at.ada, filters: {}, limit: 10, offset: 0, ...given })
const indexes = (rows: { details: string | null }[]) => rows.map(({ details }) => JSON.parse(details ?? '{}').index)

test('reads on over the ends of its stretches', async () => {
  const { transfers, total } = await page({ offset: 1_995 })
  expect(total).toBe(charges + 1)
  expect(indexes(transfers)).toEqual(Array.from({ length: 10 }, (_, place) => charges - 1 - 1_995 - place))
  expect((await page({ offset: charges - 4 })).transfers).toHaveLength(5)
  expect((await page({ offset: charges + 1 })).transfers).toEqual([])
})

test('finds what is rare all over it, and counts it', async () => {
  const { transfers, total } = await page({ filters: { model: 'rare' }, offset: 15, limit: 20 })
  expect(total).toBe(charges / 100)
  expect(indexes(transfers)).toEqual(Array.from({ length: 20 }, (_, place) => charges - 100 - (15 + place) * 100))
})

test('gives each entry once when all of it is read, and none of somebody else', async () => {
  const seen: number[] = []
  for await (const rows of history.rows({ accountId: at.ada, filters: { type: 'inference' } })) {
    expect(rows.length).toBeLessThanOrEqual(200)
    seen.push(...indexes(rows))
  }
  expect(seen).toEqual(Array.from({ length: charges }, (_, place) => charges - 1 - place))
})

test('stops when whoever asked has gone', async () => {
  const reason = new Error('gone')
  await expect(page({ filters: { text: 'x' }, signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
})
