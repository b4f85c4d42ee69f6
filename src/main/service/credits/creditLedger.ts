import type { AccountId, SandboxId } from '#shared/ids.ts'
import { type MicroUsd, toMicroUsd } from '#shared/microUsd.ts'
import { type CreditHolds, createCreditHolds } from './creditHolds.ts'
import { type CreditTransfers, createCreditTransfers } from './creditTransfers.ts'
import { createKeyLimits, type KeyLimit } from './keyLimits.ts'
import type { AccountBalance, LedgerRepository, Meter } from './ledgerRepository.ts'

/**
 * Double entry: every transfer debits one account and credits another by the same amount. A hold reserves an amount of
 * an account until it is posted, voided or expired, exactly once. Invariant for every account: `available = posted −
 * held ≥ 0`. Every call reads, decides and writes synchronously in one transaction of the caller. A call that throws an
 * AppError has written nothing.
 */
export type CreditLedger = CreditHolds &
  CreditTransfers & {
    /** @returns the point until which a sandbox was charged, or undefined if it was never charged */
    findMeter(sandboxId: SandboxId): Meter | undefined
    setMeter(sandboxId: SandboxId, meter: Meter): void
    balance(accountId: AccountId): AccountBalance
    /** Amount that can be held now. */
    spendable(accountId: AccountId, key: KeyLimit | undefined): MicroUsd
    sumSpentToday(keyId: string): number
  }

export function createCreditLedger(options: {
  records: LedgerRepository
  newId: () => string
  now: () => number
  /** Clock for daily limits and for the lifetime of holds. Default: `now`. */
  steadyMs?: () => number
}): CreditLedger {
  const { records, newId, now, steadyMs = now } = options
  const keyLimits = createKeyLimits(records, steadyMs)
  return {
    ...createCreditHolds({ records, keyLimits, newId, now, steadyMs }),
    ...createCreditTransfers({ records, keyLimits, newId, now }),
    findMeter: records.findMeter,
    setMeter: records.setMeter,
    balance: (accountId) => records.balance(accountId),
    spendable: (accountId, key) =>
      toMicroUsd(Math.min(records.balance(accountId).available, keyLimits.getRemainingToday(key))),
    sumSpentToday: (keyId) => records.keyDay(keyLimits.toKeyDay(keyId)).spent,
  }
}
