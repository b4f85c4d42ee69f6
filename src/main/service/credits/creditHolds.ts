import type { AccountId } from '#shared/ids.ts'
import { type MicroUsd, toMicroUsd } from '#shared/microUsd.ts'
import { assertMinimum, createDailyLimitError, createInsufficientError, createTooLittleError } from './creditErrors.ts'
import type { KeyLimit, KeyLimits } from './keyLimits.ts'
import { type Hold, type LedgerRepository, revenueAccount } from './ledgerRepository.ts'

/** Holds of the credit ledger. See `CreditLedger`. */
export type CreditHolds = {
  /** @throws AppError `credits/insufficient`, `credits/daily-limit` */
  hold(request: HoldRequest): { id: number; amount: MicroUsd }
  /** Charges a hold once. @returns undefined if the hold ended otherwise or was charged before */
  post(holdId: number, charge: LedgerCharge): { charged: MicroUsd } | undefined
  /** Voids a hold and releases its amount. @returns false if the hold had ended */
  void(holdId: number): boolean
  /** Releases holds that were not settled in time. @returns their number */
  expire(): number
  /** Deletes a batch of holds that ended days ago. @returns whether there may be more */
  forgetEnded(): boolean
  /** Charges every open hold of an ended process in full, as an estimate. @returns their number */
  recover(): number
}

export type HoldRequest = {
  accountId: AccountId
  key: KeyLimit | undefined
  /** Amount to hold. A function receives the spendable amount and returns undefined if it is not sufficient. */
  amount: MicroUsd | ((spendable: MicroUsd) => MicroUsd | undefined)
  model: string
}

export type LedgerCharge = {
  amount: MicroUsd
  /** Maximum to collect; the rest is recorded as uncollected. Default: as much as the account and the key cover. */
  limit?: MicroUsd
  details: Readonly<Record<string, string | number | boolean>>
}

/** Longer than any completion takes. */
const holdMs = 60 * 60_000
const retentionMs = 7 * 24 * 60 * 60_000

/** Returns the time before which ended holds may be deleted. */
export function getRetentionStart(nowMs: number): number {
  return nowMs - retentionMs
}

export function createCreditHolds(options: {
  records: LedgerRepository
  keyLimits: KeyLimits
  newId: () => string
  now: () => number
  /** Clock for the lifetime of holds. */
  steadyMs: () => number
}): CreditHolds {
  const { records, keyLimits, newId, now, steadyMs } = options

  const endHold = (hold: Hold, end: 'voided' | 'expired'): void => {
    records.endHold(hold.id, end, now())
    records.releaseHold(hold.accountId, hold.amount)
    if (hold.keyId !== null && hold.keyDay !== null) {
      records.changeKeyDay({ keyId: hold.keyId, day: hold.keyDay }, { spent: 0, held: -hold.amount })
    }
  }
  const chargeHold = (hold: Hold, { amount, limit, details }: LedgerCharge, released: MicroUsd): MicroUsd => {
    const { accountId, keyId, keyDay } = hold
    const beyond = Math.min(records.balance(accountId).available, keyLimits.getRemainingOfDay(hold))
    const collected = toMicroUsd(Math.min(amount, limit ?? amount, released + beyond))
    const uncollected = amount - collected
    records.addTransfer({
      ...{ id: newId(), type: 'inference', description: hold.model, amount: collected },
      details: JSON.stringify({ ...details, ...(uncollected > 0 && { uncollected_micro_usd: uncollected }) }),
      debit: { account: accountId, released },
      credit: { account: revenueAccount },
      ...{ keyId, holdId: hold.id, refundOf: null, requestKey: null, atMs: now() },
    })
    if (keyId !== null && keyDay !== null) {
      records.changeKeyDay({ keyId, day: keyDay }, { spent: collected, held: -released })
    }
    return collected
  }
  const post = (holdId: number, charge: LedgerCharge): { charged: MicroUsd } | undefined => {
    const hold = records.findOpenHold(holdId)
    if (hold) {
      records.endHold(holdId, 'posted', now())
      return { charged: chargeHold(hold, charge, hold.amount) }
    }
    // The work outlasted its hold. The cost was incurred, so it is charged to the remaining balance.
    const late = records.findUnchargedExpired(holdId)
    return late && { charged: chargeHold(late, charge, toMicroUsd(0)) }
  }

  return {
    post,
    hold({ accountId, key, amount: requestedAmount, model }) {
      const balance = records.balance(accountId)
      const remaining = keyLimits.getRemainingToday(key)
      const amount =
        typeof requestedAmount === 'number'
          ? requestedAmount
          : requestedAmount(toMicroUsd(Math.min(balance.available, remaining)))
      if (amount !== 0) assertMinimum(balance)
      if (amount === undefined)
        throw remaining < balance.available ? createDailyLimitError(key, remaining) : createTooLittleError(balance)
      if (amount > balance.available) throw createInsufficientError(balance, amount)
      if (amount > remaining) throw createDailyLimitError(key, remaining)
      const keyLimit = key?.dailyLimit ?? null
      const keyDay = key?.dailyLimit === undefined ? null : keyLimits.toKeyDay(key.id).day
      const nowMs = steadyMs()
      const id = records.addHold({
        ...{ accountId, keyId: key?.id ?? null, keyDay, keyLimit, amount, model },
        ...{ createdAtMs: nowMs, expiresAtMs: nowMs + holdMs },
      })
      if (key && keyDay !== null) records.changeKeyDay({ keyId: key.id, day: keyDay }, { spent: 0, held: amount })
      return { id, amount }
    },
    void(holdId) {
      const hold = records.findOpenHold(holdId)
      if (hold) endHold(hold, 'voided')
      return hold !== undefined
    },
    expire() {
      const holds = records.listExpiredHolds(steadyMs())
      for (const hold of holds) endHold(hold, 'expired')
      return holds.length
    },
    forgetEnded: () => records.removeEnded(getRetentionStart(now())),
    recover() {
      const holds = records.openHolds()
      for (const hold of holds) post(hold.id, { amount: hold.amount, details: { estimated: true, interrupted: true } })
      return holds.length
    },
  }
}
