import { AppError } from '#shared/appError.ts'
import type { AccountId } from '#shared/ids.ts'
import { type MicroUsd, toExactCents, toMicroUsd } from '#shared/microUsd.ts'
import { createDailyLimitError, createInsufficientError } from './creditErrors.ts'
import type { KeyLimit, KeyLimits } from './keyLimits.ts'
import {
  issuedAccount,
  type LedgerRepository,
  revenueAccount,
  type TransferRow,
  type TransferType,
} from './ledgerRepository.ts'

/** Transfers of the credit ledger. See `CreditLedger`. */
export type CreditTransfers = {
  /** Charges as much as is available, without a hold. */
  charge(charge: { accountId: AccountId; type: 'sandbox'; description: string; amount: MicroUsd }): MicroUsd
  /** @throws AppError `credits/insufficient`, `credits/daily-limit`, `request/reused-key` */
  transfer(request: TransferRequest & { from: AccountId; key: KeyLimit | undefined }): TransferRow
  /** @throws AppError `request/reused-key`, `credits/amount-too-large` */
  issue(request: TransferRequest & { type: 'grant' | 'top_up' }): TransferRow
  /**
   * Raises or lowers the balance, never below the held amount.
   * @throws AppError as `issue`, and `credits/insufficient`
   */
  adjust(request: TransferRequest & { direction: 'up' | 'down' }): TransferRow
  /** Issues the initial credits of an account once. @returns false if they were issued before */
  begin(options: { accountId: AccountId; amount: MicroUsd; note: string }): boolean
  /**
   * Refunds a charge. Without an amount, refunds the remaining charge.
   * @throws AppError `credits/transaction-not-found`, `credits/refund`
   */
  refund(request: RefundRequest): TransferRow
}

type TransferRequest = { to: AccountId; amount: MicroUsd; note: string; requestKey: string | undefined }
type RefundRequest = {
  transactionId: string
  amount: MicroUsd | undefined
  note: string
  requestKey: string | undefined
}

/** Maximum credits that one account receives in its lifetime, so that sums stay exact. */
const maxCredits = 2 ** 52

export function createCreditTransfers(options: {
  records: LedgerRepository
  keyLimits: KeyLimits
  newId: () => string
  now: () => number
}): CreditTransfers {
  const { records, keyLimits, newId, now } = options

  const move = (transfer: TransferInput): TransferRow =>
    records.addTransfer({
      ...{ id: transfer.id ?? newId(), type: transfer.type, amount: transfer.amount, description: transfer.note },
      debit: { account: transfer.from, released: 0 },
      credit: { account: transfer.to },
      ...{ details: null, holdId: null, atMs: now() },
      keyId: transfer.keyId ?? null,
      refundOf: transfer.refundOf ?? null,
      requestKey: transfer.requestKey ?? null,
    })

  return {
    charge({ accountId, type, description, amount }) {
      const collected = toMicroUsd(Math.min(amount, records.balance(accountId).available))
      if (collected > 0) move({ type, from: accountId, to: revenueAccount, amount: collected, note: description })
      return collected
    },
    transfer({ from, to, key, amount, note, requestKey }) {
      const before = findEarlier(
        records,
        requestKey,
        (row) =>
          row.debitAccount === from && row.creditAccount === to && row.amount === amount && row.description === note,
      )
      if (before) return before
      const balance = records.balance(from)
      if (amount > balance.available) throw createInsufficientError(balance, amount)
      const remaining = keyLimits.getRemainingToday(key)
      if (amount > remaining) throw createDailyLimitError(key, remaining)
      assertCapacity(records, to, amount)
      if (key?.dailyLimit !== undefined) {
        records.changeKeyDay(keyLimits.toKeyDay(key.id), { spent: amount, held: 0 })
      }
      return move({ type: 'transfer', from, to, amount, note, requestKey, keyId: key?.id })
    },
    issue({ type, to, amount, note, requestKey }) {
      const before = findEarlier(
        records,
        requestKey,
        (row) => row.type === type && row.creditAccount === to && row.amount === amount && row.description === note,
      )
      if (before) return before
      assertCapacity(records, to, amount)
      return move({ type, from: issuedAccount, to, amount, note, requestKey })
    },
    adjust({ direction, to: account, amount, note, requestKey }) {
      const [from, to] = direction === 'up' ? [issuedAccount, account] : [account, issuedAccount]
      const before = findEarlier(
        records,
        requestKey,
        (transferRow) =>
          transferRow.type === 'adjustment' &&
          transferRow.debitAccount === from &&
          transferRow.creditAccount === to &&
          transferRow.amount === amount &&
          transferRow.description === note,
      )
      if (before) return before
      const balance = records.balance(account)
      if (direction === 'up') assertCapacity(records, account, amount)
      else if (amount > balance.available) throw createInsufficientError(balance, amount)
      return move({ type: 'adjustment', from, to, amount, note, requestKey })
    },
    begin({ accountId: to, amount, note }) {
      const id = toStartId(to)
      if (records.findTransfer(id)) return false
      move({ id, type: 'grant', from: issuedAccount, to, amount, note })
      return true
    },
    refund({ transactionId, amount: requestedAmount, note, requestKey }) {
      const charge = records.findTransfer(transactionId)
      if (charge?.creditAccount !== revenueAccount) {
        throw new AppError('credits/transaction-not-found', `There is no charge \`${transactionId}\`.`)
      }
      const to = charge.debitAccount
      const before = findEarlier(
        records,
        requestKey,
        (row) =>
          row.refundOf === transactionId && row.description === note && (requestedAmount ?? row.amount) === row.amount,
      )
      if (before) return before
      const refundable = charge.amount - records.sumRefunds(transactionId)
      const amount = requestedAmount ?? toMicroUsd(refundable)
      assertRefundable(transactionId, { refundable, amount })
      return move({ type: 'refund', from: revenueAccount, to, amount, note, requestKey, refundOf: transactionId })
    },
  }
}

/** Returns the id of the transfer that issues the initial credits of an account. */
export function toStartId(accountId: AccountId): string {
  return `txn_start_${accountId}`
}

type TransferInput = {
  id?: string
  type: TransferType
  from: string
  to: string
  amount: MicroUsd
  note: string
  requestKey?: string | undefined
  keyId?: string | undefined
  refundOf?: string
}

function assertCapacity(records: LedgerRepository, to: AccountId, amount: MicroUsd): void {
  // Sum of all credits ever issued, including those taken back, so that both sides of the account stay exact.
  const issued = records.sumCredited(issuedAccount) - records.balance(issuedAccount).posted
  if (Math.max(records.sumCredited(to), issued) + amount <= maxCredits) return
  throw new AppError('credits/amount-too-large', 'The balance of the account would exceed its maximum.')
}

/** Finds the transfer of an earlier identical request, at any age, so that it is made only once. */
function findEarlier(
  records: LedgerRepository,
  requestKey: string | undefined,
  isSame: (row: TransferRow) => boolean,
): TransferRow | undefined {
  const row = requestKey === undefined ? undefined : records.findByRequestKey(requestKey)
  if (!row || isSame(row)) return row
  throw new AppError('request/reused-key', 'This Idempotency-Key was used for another request.')
}

function assertRefundable(id: string, { refundable, amount }: { refundable: number; amount: MicroUsd }): void {
  if (refundable === 0) throw new AppError('credits/refund', `\`${id}\` is already fully refunded.`)
  if (amount <= refundable) return
  throw new AppError('credits/refund', `${toExactCents(refundable)} cents of \`${id}\` can be refunded.`)
}
