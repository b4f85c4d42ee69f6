import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { creditLedger } from '../../src/main/service/credits/creditLedger.ts'
import { ledgerRepository } from '../../src/main/service/credits/ledgerRepository.ts'
import { openDatabase } from '../../src/main/storage/openDatabase.ts'
import { AccountId } from '../../src/shared/ids.ts'
import { microUsdOfCents } from '../../src/shared/microUsd.ts'

/** Holds so many cents of an account of a service that may be running, and leaves the hold open. */
export function plantedHold(dataDir: string, { accountId, cents }: { accountId: string; cents: number }): void {
  withLedger(dataDir, (ledger) => {
    ledger.hold(holdOf(accountId, cents))
  })
}

/** Charges so many cents, as an answer of a model does. @returns the id of the transaction */
export function plantedCharge(dataDir: string, { accountId, cents }: { accountId: string; cents: number }): string {
  return withLedger(dataDir, (ledger) => {
    const { id } = ledger.hold(holdOf(accountId, cents))
    ledger.post(id, { amount: microUsdOfCents(cents), details: { estimated: false } })
    return ledger.history(AccountId.parse(accountId), { limit: 1, offset: 0 }).transfers[0]?.id ?? ''
  })
}

const holdOf = (accountId: string, cents: number) => ({
  ...{ accountId: AccountId.parse(accountId), key: undefined, model: 'gpt-5.2' },
  amount: microUsdOfCents(cents),
})

function withLedger<T>(dataDir: string, work: (ledger: ReturnType<typeof creditLedger>) => T): T {
  const database = openDatabase(join(dataDir, 'service.sqlite'))
  try {
    const newId = () => `txn_${randomBytes(12).toString('hex')}`
    const ledger = creditLedger({ records: ledgerRepository(database), newId, now: Date.now })
    return database.transaction(() => work(ledger)).immediate()
  } finally {
    database.close()
  }
}
