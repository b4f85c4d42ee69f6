import { AppError } from '#shared/appError.ts'
import type { AccountId, SandboxId } from '#shared/ids.ts'
import { floorCents, type MicroUsd, toExactCents, toMicroUsd } from '#shared/microUsd.ts'
import {
  type AccountBalance,
  type Hold,
  issuedAccount,
  type LedgerRepository,
  type Meter,
  revenueAccount,
  type TransferRow,
  type TransferType,
} from './ledgerRepository.ts'

/**
 * Double entry: every transfer debits one account and credits another by the same amount. A hold sets an amount of an
 * account aside until it is posted, voided or expired, exactly once. At all times, of every account:
 * `available = posted − held ≥ 0`.
 *
 * Every call reads, decides and writes without waiting, in one transaction of the caller; what it refuses by an
 * AppError it refuses before it writes.
 */
export type CreditLedger = {
  /** @throws AppError `credits/insufficient`, `credits/daily-limit` */
  hold(request: HoldRequest): { id: number; amount: MicroUsd }
  /** Charges a hold once. Returns undefined if it ended otherwise or was charged before. */
  post(holdId: number, charge: LedgerCharge): { charged: MicroUsd } | undefined
  /** Gives the amount back. False when it had ended before. */
  void(holdId: number): boolean
  /** Releases holds that were not settled in time. @returns how many */
  expire(): number
  /** Deletes a batch of holds that ended days ago. @returns whether there may be more */
  forgetEnded(): boolean
  /** Charges every open hold of an ended process in full, as an estimate. @returns how many */
  recover(): number
  /** Point until which a sandbox was charged; undefined when it never was. */
  findMeter(sandboxId: SandboxId): Meter | undefined
  setMeter(sandboxId: SandboxId, meter: Meter): void
  /** Charges as much as is available, without a hold. */
  charge(charge: { accountId: AccountId; type: 'sandbox'; description: string; amount: MicroUsd }): MicroUsd
  /** @throws AppError `credits/insufficient`, `credits/daily-limit`, `request/reused-key` */
  transfer(request: TransferRequest & { from: AccountId; key: KeyLimit | undefined }): TransferRow
  /** @throws AppError `request/reused-key`, `credits/too-much` */
  issue(request: TransferRequest & { type: 'grant' | 'top_up' }): TransferRow
  /** Raises the balance, or lowers it, though never below what is held. @throws AppError as `issue`, `credits/insufficient` */
  adjust(request: TransferRequest & { direction: 'up' | 'down' }): TransferRow
  /** The credits that an account begins with, given once for ever. False when it had them. */
  begin(options: { accountId: AccountId; amount: MicroUsd; note: string }): boolean
  /**
   * Refunds a charge, in full or what remains of it if no amount is set. @throws AppError
   * `credits/transaction-not-found`, `credits/refund`
   */
  refund(request: RefundRequest): TransferRow
  balance(accountId: AccountId): AccountBalance
  /** Amount that can be held now. */
  spendable(accountId: AccountId, key: KeyLimit | undefined): MicroUsd
  sumSpentToday(keyId: string): number
}

/** The limit counts what was spent and what is held in this day of UTC. */
export type KeyLimit = { id: string; dailyLimit: MicroUsd | undefined }

export type HoldRequest = {
  accountId: AccountId
  key: KeyLimit | undefined
  /** As a function: undefined where what can be spent covers nothing. */
  amount: MicroUsd | ((spendable: MicroUsd) => MicroUsd | undefined)
  model: string
}

export type LedgerCharge = {
  amount: MicroUsd
  /** Maximum to collect; the rest is recorded as uncollected. Default: as much as the account and the key cover. */
  limit?: MicroUsd
  details: Readonly<Record<string, string | number | boolean>>
}

type TransferRequest = { to: AccountId; amount: MicroUsd; note: string; requestKey: string | undefined }
type RefundRequest = {
  transactionId: string
  amount: MicroUsd | undefined
  note: string
  requestKey: string | undefined
}

/** To begin anything that costs. */
export const minBalance = toMicroUsd(100_000)
/** Longer than any answer of a model takes. */
const holdMs = 60 * 60_000
const retentionMs = 7 * 24 * 60 * 60_000
const dayMs = 24 * 60 * 60_000
/** Limit of all credits that one account ever receives, so that sums stay exact. */
const maxCredits = 2 ** 52

export function createCreditLedger(options: {
  records: LedgerRepository
  newId: () => string
  now: () => number
  /** For days of limits, and for the time that holds last. Default: `now`. */
  steadyMs?: () => number
}): CreditLedger {
  const { records, newId, now, steadyMs = now } = options
  const today = () => Math.floor(steadyMs() / dayMs)

  const getRemainingOfDay = (hold: Pick<Hold, 'keyId' | 'keyDay' | 'keyLimit'>): number => {
    const { keyId, keyDay: day, keyLimit } = hold
    if (keyId === null || day === null || keyLimit === null) return Number.POSITIVE_INFINITY
    const { spent, held } = records.keyDay({ keyId, day })
    return Math.max(0, keyLimit - spent - held)
  }
  const getRemainingToday = (key: KeyLimit | undefined): number =>
    key?.dailyLimit === undefined
      ? Number.POSITIVE_INFINITY
      : getRemainingOfDay({ keyId: key.id, keyDay: today(), keyLimit: key.dailyLimit })
  const spendable = (accountId: AccountId, key: KeyLimit | undefined): MicroUsd =>
    toMicroUsd(Math.min(records.balance(accountId).available, getRemainingToday(key)))

  const endHold = (hold: Hold, end: 'voided' | 'expired'): void => {
    records.endHold(hold.id, end, now())
    records.releaseHold(hold.accountId, hold.amount)
    if (hold.keyId !== null && hold.keyDay !== null) {
      records.changeKeyDay({ keyId: hold.keyId, day: hold.keyDay }, { spent: 0, held: -hold.amount })
    }
  }
  const chargeHold = (hold: Hold, { amount, limit, details }: LedgerCharge, released: MicroUsd): MicroUsd => {
    const { accountId, keyId, keyDay } = hold
    const beyond = Math.min(records.balance(accountId).available, getRemainingOfDay(hold))
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
    // The work outlasted its hold. The cost is real, so it is charged to the remaining balance.
    const late = records.findUnchargedExpired(holdId)
    return late && { charged: chargeHold(late, charge, toMicroUsd(0)) }
  }

  const assertCapacity = (to: AccountId, amount: MicroUsd): void => {
    // All that was ever issued, what was taken back included: both sides of that account stay exact.
    const issued = records.sumCredited(issuedAccount) - records.balance(issuedAccount).posted
    if (Math.max(records.sumCredited(to), issued) + amount <= maxCredits) return
    throw new AppError('credits/too-much', 'An account cannot hold that many credits.')
  }
  /** Finds the transfer of an earlier identical request, however long ago, so that it is made once. */
  const findEarlier = (request: { requestKey: string | undefined }, isSame: (row: TransferRow) => boolean) => {
    const { requestKey } = request
    const row = requestKey === undefined ? undefined : records.findByRequestKey(requestKey)
    if (!row || isSame(row)) return row
    throw new AppError('request/reused-key', 'This Idempotency-Key was used for another request.')
  }
  const move = (transfer: Moved): TransferRow =>
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
    spendable,
    post,
    hold({ accountId, key, amount: requestedAmount, model }) {
      const balance = records.balance(accountId)
      const remaining = getRemainingToday(key)
      const amount =
        typeof requestedAmount === 'number'
          ? requestedAmount
          : requestedAmount(toMicroUsd(Math.min(balance.available, remaining)))
      if (amount !== 0) assertMinimum(balance)
      if (amount === undefined) throw remaining < balance.available ? dailyLimit(key, remaining) : tooLittle(balance)
      if (amount > balance.available) throw insufficientError(balance, amount)
      if (amount > remaining) throw dailyLimit(key, remaining)
      const keyLimit = key?.dailyLimit ?? null
      const keyDay = keyLimit === null ? null : today()
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
    forgetEnded: () => records.removeEnded(now() - retentionMs),
    recover() {
      const holds = records.openHolds()
      for (const hold of holds) post(hold.id, { amount: hold.amount, details: { estimated: true, interrupted: true } })
      return holds.length
    },
    findMeter: records.findMeter,
    setMeter: records.setMeter,
    charge({ accountId, type, description, amount }) {
      const collected = toMicroUsd(Math.min(amount, records.balance(accountId).available))
      if (collected > 0) move({ type, from: accountId, to: revenueAccount, amount: collected, note: description })
      return collected
    },
    transfer({ from, to, key, amount, note, requestKey }) {
      const before = findEarlier(
        { requestKey },
        (row) =>
          row.debitAccount === from && row.creditAccount === to && row.amount === amount && row.description === note,
      )
      if (before) return before
      const balance = records.balance(from)
      if (amount > balance.available) throw insufficientError(balance, amount)
      const remaining = getRemainingToday(key)
      if (amount > remaining) throw dailyLimit(key, remaining)
      assertCapacity(to, amount)
      if (key?.dailyLimit !== undefined) {
        records.changeKeyDay({ keyId: key.id, day: today() }, { spent: amount, held: 0 })
      }
      return move({ type: 'transfer', from, to, amount, note, requestKey, keyId: key?.id })
    },
    issue({ type, to, amount, note, requestKey }) {
      const before = findEarlier(
        { requestKey },
        (row) => row.type === type && row.creditAccount === to && row.amount === amount && row.description === note,
      )
      if (before) return before
      assertCapacity(to, amount)
      return move({ type, from: issuedAccount, to, amount, note, requestKey })
    },
    adjust({ direction, to: account, amount, note, requestKey }) {
      const [from, to] = direction === 'up' ? [issuedAccount, account] : [account, issuedAccount]
      const before = findEarlier(
        { requestKey },
        (it) =>
          it.type === 'adjustment' &&
          it.debitAccount === from &&
          it.creditAccount === to &&
          it.amount === amount &&
          it.description === note,
      )
      if (before) return before
      const balance = records.balance(account)
      if (direction === 'up') assertCapacity(account, amount)
      else if (amount > balance.available) throw insufficientError(balance, amount)
      return move({ type: 'adjustment', from, to, amount, note, requestKey })
    },
    begin({ accountId: to, amount, note }) {
      const id = `txn_start_${to}`
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
        { requestKey },
        (row) =>
          row.refundOf === transactionId && row.description === note && (requestedAmount ?? row.amount) === row.amount,
      )
      if (before) return before
      const refundable = charge.amount - records.sumRefunds(transactionId)
      const amount = requestedAmount ?? toMicroUsd(refundable)
      if (refundable === 0) throw new AppError('credits/refund', `\`${transactionId}\` is already fully refunded.`)
      if (amount > refundable) {
        throw new AppError(
          'credits/refund',
          `${toExactCents(refundable)} cents of \`${transactionId}\` can be refunded.`,
        )
      }
      return move({ type: 'refund', from: revenueAccount, to, amount, note, requestKey, refundOf: transactionId })
    },
    balance: (accountId) => records.balance(accountId),
    sumSpentToday: (keyId) => records.keyDay({ keyId, day: today() }).spent,
  }
}

type Moved = {
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

function assertMinimum({ posted }: AccountBalance): void {
  if (posted < minBalance) {
    throw new AppError('credits/insufficient', 'Insufficient credits', {
      detail: `Minimum balance of ${toExactCents(minBalance)} cents required. Current balance: ${floorCents(posted)} cents.`,
    })
  }
}

function insufficientError(balance: AccountBalance, amount: MicroUsd): AppError {
  const detail = `${toExactCents(amount)} cents are needed; ${describeAvailable(balance)}`
  return new AppError('credits/insufficient', 'Insufficient credits', { detail })
}

function tooLittle(balance: AccountBalance): AppError {
  const detail = `This request costs more than what is left: ${describeAvailable(balance)}`
  return new AppError('credits/insufficient', 'Insufficient credits', { detail })
}

function describeAvailable({ available, held }: AccountBalance): string {
  const others = held === 0 ? '' : ` Running requests hold ${toExactCents(held)} cents.`
  return `${toExactCents(available)} cents are available.${others}`
}

function dailyLimit(key: KeyLimit | undefined, remaining: number): AppError {
  return new AppError('credits/daily-limit', 'The daily limit of this API key does not cover this.', {
    detail: `${toExactCents(remaining)} of ${toExactCents(key?.dailyLimit ?? 0)} cents are left until 00:00 UTC.`,
  })
}
