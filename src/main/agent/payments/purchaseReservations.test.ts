import { expect, test } from 'vitest'
import { WalletAccountId } from '#shared/contract/wallet.ts'
import { migrate } from '#storage/migrate.ts'
import { agentMigrations } from '#storage/migrations/agent/agentMigrations.ts'
import { openDatabase } from '#storage/sqlite/openDatabase.ts'
import { script } from '#test/support/fixtures/approvals.ts'
import { createPurchaseLeaseRepository } from './purchaseLeaseRepository.ts'
import { createLeaseReservations } from './purchaseReservations.ts'

/** Creates reservations on a database that survives a simulated restart. */
function openReservations() {
  const database = openDatabase(':memory:')
  migrate(database, agentMigrations)
  database.pragma('foreign_keys = OFF') // the leases refer to requests that have no rows
  const underWay = new Set<string>()
  const start = () =>
    createLeaseReservations({ leases: createPurchaseLeaseRepository(database), isUnderWay: (id) => underWay.has(id) })
  let reservations = start()
  return {
    underWay,
    restart() {
      reservations = start()
    },
    reserve(id: string, purchase: string | null = 'domain:seamrace.com') {
      const refusal = reservations.reserve({
        ...{ id, by: 'person', kind: 'x402.authorize', requester: script, host: 'shop.example', scope: null, purchase },
        ...{ accountId: WalletAccountId.parse(`wal_${'1'.repeat(24)}`), amountMicroUsd: 1n },
      })
      if (!refusal) underWay.add(id)
      return refusal
    },
    giveBack: (id: string) => reservations.giveBack(id),
    commit: (id: string) => reservations.commit(id),
  }
}

const busy = { effect: 'ask', detail: 'Another request to register seamrace.com is being paid.' }

test('reserves a purchase for one request at a time until its release', () => {
  const { reserve, giveBack } = openReservations()
  expect(reserve('int_1')).toBeUndefined()
  expect(reserve('int_2')).toEqual(busy)
  expect(reserve('int_3', 'domain:other.com')).toBeUndefined()
  giveBack('int_1')
  expect(reserve('int_2')).toBeUndefined()
})

test('a signed intent holds the lease across a restart until its payment ends', () => {
  const { reserve, commit, restart, underWay } = openReservations()
  reserve('int_1')
  commit('int_1')
  restart()
  expect(reserve('int_2')).toEqual(busy)
  underWay.delete('int_1') // simulates a crash between the end of the payment and the end of the lease
  expect(reserve('int_2')).toBeUndefined()
  expect(reserve('int_3')).toEqual(busy)
})

test('a repeatable purchase needs no lease', () => {
  const { reserve } = openReservations()
  expect([reserve('int_1', null), reserve('int_2', null)]).toEqual([undefined, undefined])
})
