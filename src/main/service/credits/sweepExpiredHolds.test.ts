import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { silentLog } from '#platform/logging/log.ts'
import { toMicroUsd } from '#shared/microUsd.ts'
import { testLedger } from '#test/support/fixtures/testLedger.ts'
import { sweepExpiredHolds } from './sweepExpiredHolds.ts'

const dayMs = 86_400_000
let money: Awaited<ReturnType<typeof testLedger>>

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  money = await testLedger()
})
afterEach(async () => {
  vi.useRealTimers()
  await money.close()
})

const countHolds = () =>
  money.database.prepare<[], { count: number }>('SELECT count(*) AS count FROM credit_holds').get()
const hold = () => money.ledger.hold({ accountId: money.ada, key: undefined, amount: toMicroUsd(1), model: 'gpt-5.2' })

test('a sweep deletes ended holds in batches until none is due', async () => {
  await money.commits.commit(() => {
    for (let holds = 0; holds < 1_700; holds += 1) money.ledger.void(hold().id)
  })
  money.clock.nowMs += 30 * dayMs
  const { id } = await money.commits.commit(hold)
  const sweep = sweepExpiredHolds({ ledger: money.store, log: silentLog })
  vi.advanceTimersByTime(10_000)
  await expect.poll(countHolds).toEqual({ count: 1 })
  sweep.close()
  expect(await money.commits.commit(() => money.ledger.void(id))).toBe(true)
})
