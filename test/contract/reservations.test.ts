import { expect, test } from 'vitest'
import { createGrantRepository } from '#agent/approvals/grantRepository.ts'
import { createGrantReservations } from '#agent/approvals/grantReservations.ts'
import type { Reservations, ReservedUse } from '#agent/approvals/reservations.ts'
import { createPaymentBudgetRepository } from '#agent/budgets/paymentBudgetRepository.ts'
import { createPaymentBudgets } from '#agent/budgets/paymentBudgets.ts'
import { combineReservations, createPaymentReservations } from '#agent/budgets/paymentReservations.ts'
import type { Grant } from '#shared/contract/intents.ts'
import { migrate } from '#storage/migrate.ts'
import { agentMigrations } from '#storage/migrations/agent/agentMigrations.ts'
import { openDatabase } from '#storage/sqlite/openDatabase.ts'
import { createMemoryReservations } from '../support/fakes/memoryReservations.ts'
import { script } from '../support/fixtures/approvals.ts'
import { noLimits } from '../support/processes/payingAgent.ts'
import { capacity, reservationsContract } from './reservations.ts'

const accountId = 'wal_0123456789abcdef01234567' as Grant['account_id'] // the type is branded
const use = (id: string): ReservedUse => ({
  id,
  by: 'grant',
  kind: 'x402.authorize',
  requester: script,
  host: 'shop.example',
  scope: 'eip155:8453:0x2222222222222222222222222222222222222222',
  accountId,
  amountMicroUsd: 500n,
})
const grant: Grant = {
  id: 'grant_1',
  kind: 'x402.authorize',
  requester: script,
  host: 'shop.example',
  scope: use('').scope,
  account_id: accountId,
  max_amount_micro_usd: '500',
  times_left: capacity,
  until: null,
  created_at: '2027-01-15T08:00:00.000Z',
}

function openGrants() {
  const database = openDatabase(':memory:')
  migrate(database, agentMigrations)
  const grants = createGrantRepository(database)
  grants.add(grant)
  const again = () => createGrantReservations({ grants: createGrantRepository(database), now: Date.now })
  const atomically = <T>(work: () => T): T => database.transaction(work).immediate()
  return { reservations: again(), again, atomically, use, grants }
}

reservationsContract('reservations of grants', openGrants)

function openBudgets(limits: object) {
  const database = openDatabase(':memory:')
  migrate(database, agentMigrations)
  const records = createPaymentBudgetRepository(database)
  records.setLimits({ ...noLimits, ask_first_payee: false, ...limits })
  const again = () =>
    createPaymentReservations({
      records: createPaymentBudgetRepository(database),
      budgets: createPaymentBudgets({ records, now: Date.now }),
      findSignature: () => undefined,
      service: 'embedded',
      now: Date.now,
    })
  const atomically = <T>(work: () => T): T => database.transaction(work).immediate()
  return { reservations: again(), again, atomically, use }
}
const amount = capacity * 500
reservationsContract('budget of any 24 hours', () => openBudgets({ day_micro_usd: amount }))
reservationsContract('budget of a month', () => openBudgets({ month_micro_usd: amount }))
reservationsContract('budget of a host', () =>
  openBudgets({ hosts: [{ host: 'shop.example', month_micro_usd: amount }] }),
)
reservationsContract('budget of a payee', () =>
  openBudgets({ payees: [{ payee: use('').scope ?? '', month_micro_usd: amount }] }),
)
reservationsContract('a budget together with one that always has room', () => {
  const { reservations, again, ...rest } = openBudgets({ day_micro_usd: amount })
  const together = (reservations: Reservations) =>
    combineReservations([createMemoryReservations(10n ** 9n), reservations])
  return { ...rest, reservations: together(reservations), again: () => together(again()) }
})

reservationsContract('reservations of a simple budget', () => {
  const state = { reserved: new Map<string, bigint>(), spent: 0n }
  const reservations = createMemoryReservations(BigInt(capacity) * 500n, 'deny', state)
  const { atomically } = reservations
  return {
    reservations,
    use,
    atomically,
    again: () => createMemoryReservations(BigInt(capacity) * 500n, 'deny', state),
  }
})

test('approvals by the user or a rule use up no grant', () => {
  const { reservations, grants } = openGrants()
  for (const by of ['person', 'policy'] as const) {
    expect(reservations.reserve({ ...use(`int_${by}`), by })).toBeUndefined()
    reservations.commit(`int_${by}`)
  }
  expect(grants.holding(0)).toMatchObject([{ times_left: capacity }])
})

test('does not restore a reservation to a revoked grant', () => {
  const { reservations, grants } = openGrants()
  expect(reservations.reserve(use('int_1'))).toBeUndefined()
  grants.remove(grant.id)
  reservations.giveBack('int_1')
  expect(grants.holding(0)).toEqual([])
})
