import type { LedgerRepository } from './ledgerRepository.ts'

/** Calls `changed` for each account with a changed balance or hold. The change may still be rolled back. */
export function notifyChanges(records: LedgerRepository, changed: (account: string) => void): LedgerRepository {
  return {
    ...records,
    addHold(hold) {
      changed(hold.accountId)
      return records.addHold(hold)
    },
    releaseHold(account, amount) {
      changed(account)
      records.releaseHold(account, amount)
    },
    addTransfer(transfer) {
      changed(transfer.debit.account)
      changed(transfer.credit.account)
      return records.addTransfer(transfer)
    },
  }
}
