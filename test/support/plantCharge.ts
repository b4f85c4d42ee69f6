import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { createCreditLedger } from '#service/credits/creditLedger.ts'
import { createHistoryRepository } from '#service/credits/historyRepository.ts'
import { createLedgerRepository } from '#service/credits/ledgerRepository.ts'
import { AccountId } from '#shared/ids.ts'
import { centsToMicroUsd } from '#shared/microUsd.ts'
import { openDatabase } from '#storage/sqlite/openDatabase.ts'

/** Places a hold of so many cents on an account, and leaves it open. The service may be running. */
export function plantHold(dataDir: string, { accountId, cents }: { accountId: string; cents: number }): void {
  withLedger(dataDir, (ledger) => {
    ledger.hold(createHold(accountId, cents))
  })
}

/** Charges an account as a model completion does. @returns the id of the transaction */
export function plantCharge(dataDir: string, planted: PlantedCharge): string {
  const { accountId, atMs } = planted
  return withLedger(
    dataDir,
    (ledger, history) => {
      charge(ledger, planted)
      return (
        history.stretch(AccountId.parse(accountId), {}, { above: 0, below: 2 ** 53, limit: 1, offset: 0 })[0]?.id ?? ''
      )
    },
    () => atMs ?? Date.now(),
  )
}

/** Charges many times in one batch, which blocks the service until it completes. */
export function plantCharges(dataDir: string, count: number, planted: Omit<PlantedCharge, 'atMs'>): void {
  withLedger(dataDir, (ledger) => {
    for (let done = 0; done < count; done += 1) charge(ledger, planted)
  })
}

function charge(
  ledger: ReturnType<typeof createCreditLedger>,
  { accountId, cents, model, keyId, details }: PlantedCharge,
) {
  const { id } = ledger.hold(createHold(accountId, cents, { model, keyId }))
  ledger.post(id, { amount: centsToMicroUsd(cents), details: { estimated: false, ...details } })
}

type Work<T> = (ledger: ReturnType<typeof createCreditLedger>, history: ReturnType<typeof createHistoryRepository>) => T

type PlantedCharge = {
  accountId: string
  cents: number
  model?: string
  keyId?: string
  /** Time of the charge. Defaults to now. */
  atMs?: number
  details?: Record<string, string | number | boolean>
}

const createHold = (
  accountId: string,
  cents: number,
  { model = 'gpt-5.2', keyId }: { model?: string | undefined; keyId?: string | undefined } = {},
) => ({
  ...{ accountId: AccountId.parse(accountId), model, amount: centsToMicroUsd(cents) },
  key: keyId === undefined ? undefined : { id: keyId, dailyLimit: undefined },
})

function withLedger<T>(dataDir: string, work: Work<T>, now: () => number = Date.now): T {
  const database = openDatabase(join(dataDir, 'service.sqlite'))
  try {
    const newId = () => `txn_${randomBytes(12).toString('hex')}`
    const ledger = createCreditLedger({ records: createLedgerRepository(database), newId, now })
    return database.transaction(() => work(ledger, createHistoryRepository(database))).immediate()
  } finally {
    database.close()
  }
}
