import { createPaymentBudgetRepository } from '#agent/budgets/paymentBudgetRepository.ts'
import { createPaymentBudgets } from '#agent/budgets/paymentBudgets.ts'
import { createPaymentReservations } from '#agent/budgets/paymentReservations.ts'
import { openDatabase } from '#storage/sqlite/openDatabase.ts'
import { script } from '../fixtures/approvals.ts'

/** Pays concurrently with other processes from the same budget. Prints the signed amounts. */
const [file = '', name = '', crashPoint = '0'] = process.argv.slice(2)
const database = openDatabase(file)
const records = createPaymentBudgetRepository(database)
const now = () => Number(crashPoint)
const budgets = createPaymentBudgets({ records, now })
const reservations = createPaymentReservations({
  records,
  budgets,
  findSignature: () => undefined,
  service: 'embedded',
  now,
})
let signed = 0
for (let payment = 0; payment < 50; payment += 1) {
  const refused = reservations.reserve({
    ...{ id: `int_${name}_${payment}`, by: 'policy', kind: 'x402.authorize', requester: script, host: 'shop.example' },
    scope: 'eip155:8453:0x2222222222222222222222222222222222222222',
    accountId: 'wal_0123456789abcdef01234567' as never, // brands exist only at compile time
    amountMicroUsd: 5_000_000n,
  })
  if (!refused) signed += 5_000_000
  if (payment % 2 === 0) reservations.commit(`int_${name}_${payment}`)
}
database.close()
process.send?.(signed)
process.disconnect()
