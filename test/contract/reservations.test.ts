import { expect, test } from 'vitest'
import { grantRepository } from '#agent/approvals/grantRepository.ts'
import { grantReservations } from '#agent/approvals/grantReservations.ts'
import type { Reservations, ReservedUse } from '#agent/approvals/reservations.ts'
import { paymentBudgetRepository } from '#agent/budgets/paymentBudgetRepository.ts'
import { paymentBudgets } from '#agent/budgets/paymentBudgets.ts'
import { allReservations, paymentReservations } from '#agent/budgets/paymentReservations.ts'
import type { Grant } from '#shared/contract/intents.ts'
import { migrate } from '#storage/migrate.ts'
import { agentMigrations } from '#storage/migrations/agent/agentMigrations.ts'
import { openDatabase } from '#storage/openDatabase.ts'
import { script } from '../support/approvals.ts'
import { memoryReservations } from '../support/memoryReservations.ts'
import { noLimits } from '../support/payingAgent.ts'
import { reservationsContract, room } from './reservations.ts'

const accountId = 'wal_0123456789abcdef01234567' as Grant['account_id'] // a brand is only a type
const use = (id: string): ReservedUse => ({
  id,
  by: 'grant',
  kind: 'x402.authorize',
  asker: script,
  host: 'shop.example',
  scope: 'eip155:8453:0x2222222222222222222222222222222222222222',
  accountId,
  amountMicroUsd: 500n,
})
const grant: Grant = {
  id: 'grant_1',
  kind: 'x402.authorize',
  asker: script,
  host: 'shop.example',
  scope: use('').scope,
  account_id: accountId,
  max_amount_micro_usd: '500',
  times_left: room,
  until: null,
  created_at: '2027-01-15T08:00:00.000Z',
}

function openGrants() {
  const database = openDatabase(':memory:')
  migrate(database, agentMigrations)
  const grants = grantRepository(database)
  grants.add(grant)
  const again = () => grantReservations({ grants: grantRepository(database), now: Date.now })
  const atomically = <T>(work: () => T): T => database.transaction(work).immediate()
  return { reservations: again(), again, atomically, use, grants }
}

reservationsContract('reservations of grants', openGrants)

function openBudgets(limits: object) {
  const database = openDatabase(':memory:')
  migrate(database, agentMigrations)
  const records = paymentBudgetRepository(database)
  records.setLimits({ ...noLimits, ask_first_payee: false, ...limits })
  const again = () =>
    paymentReservations({
      records: paymentBudgetRepository(database),
      budgets: paymentBudgets({ records, now: Date.now }),
      signed: () => undefined,
      now: Date.now,
    })
  const atomically = <T>(work: () => T): T => database.transaction(work).immediate()
  return { reservations: again(), again, atomically, use }
}
const most = room * 500
reservationsContract('budget of any 24 hours', () => openBudgets({ day_micro_usd: most }))
reservationsContract('budget of a month', () => openBudgets({ month_micro_usd: most }))
reservationsContract('budget of a host', () =>
  openBudgets({ hosts: [{ host: 'shop.example', month_micro_usd: most }] }),
)
reservationsContract('budget of a payee', () =>
  openBudgets({ payees: [{ payee: use('').scope ?? '', month_micro_usd: most }] }),
)
reservationsContract('a budget together with one that always has room', () => {
  const { reservations, again, ...rest } = openBudgets({ day_micro_usd: most })
  const together = (it: Reservations) => allReservations([memoryReservations(10n ** 9n), it])
  return { ...rest, reservations: together(reservations), again: () => together(again()) }
})

reservationsContract('reservations of a simple budget', () => {
  const kept = { reserved: new Map<string, bigint>(), spent: 0n }
  const reservations = memoryReservations(BigInt(room) * 500n, 'deny', kept)
  const { atomically } = reservations
  return { reservations, use, atomically, again: () => memoryReservations(BigInt(room) * 500n, 'deny', kept) }
})

test('what the person or a rule allowed uses up no grant', () => {
  const { reservations, grants } = openGrants()
  for (const by of ['person', 'policy'] as const) {
    expect(reservations.reserve({ ...use(`int_${by}`), by })).toBeUndefined()
    reservations.commit(`int_${by}`)
  }
  expect(grants.holding(0)).toMatchObject([{ times_left: room }])
})

test('a grant that was revoked meanwhile comes back to nobody', () => {
  const { reservations, grants } = openGrants()
  expect(reservations.reserve(use('int_1'))).toBeUndefined()
  grants.remove(grant.id)
  reservations.giveBack('int_1')
  expect(grants.holding(0)).toEqual([])
})
