import type { SandboxId } from '#shared/ids.ts'
import {
  type Hold,
  type HoldEnd,
  issuedAccount,
  type KeyDay,
  type KeyDayAmounts,
  type LedgerRepository,
  type NewHold,
  revenueAccount,
  type StoredMeter,
  type StoredTransfer,
  type TransferRow,
} from './ledgerRepository.ts'

export type AccountAmounts = { debits: number; credits: number; held: number; entries: number }
export type LoadedHold = Hold & { state: 'open' | HoldEnd; expiresAtMs: number; isCharged: boolean }
export type LoadedTransfer = TransferRow & { requestKey: string | null; refunded: number }

/** Rows of the ledger that a group of changes works on. */
export type LedgerRows = {
  /** Locked accounts, which may be changed. */
  accounts: ReadonlyMap<string, AccountAmounts>
  /** Balance of the account that issues credits, if it is not locked. May be out of date. */
  issued: AccountAmounts
  holds: readonly LoadedHold[]
  /** By `toKeyDayId`. Rows that do not exist have zero amounts. */
  keyDays: ReadonlyMap<string, KeyDayAmounts>
  transfers: readonly LoadedTransfer[]
  meters: ReadonlyMap<SandboxId, StoredMeter | undefined>
  /** Keys that were looked up, whether or not there is a row. */
  named: { holds: ReadonlySet<number>; transfers: ReadonlySet<string>; requestKeys: ReadonlySet<string> }
}

/** Changes to write. Amounts are differences, because other processes change the same rows. */
export type LedgerChanges = {
  accounts: ReadonlyMap<string, AccountAmounts>
  newHolds: readonly (NewHold & { id: number })[]
  endedHolds: ReadonlyMap<number, { state: HoldEnd; atMs: number }>
  keyDays: ReadonlyMap<string, KeyDay & KeyDayAmounts>
  newTransfers: readonly StoredTransfer[]
  meters: ReadonlyMap<SandboxId, StoredMeter>
}

export type LedgerWorkingSet = {
  records: LedgerRepository
  changes: LedgerChanges
  /** Number of changes so far. */
  readonly count: number
}

export const toKeyDayId = ({ keyId, day }: KeyDay): string => `${day} ${keyId}`

/**
 * Works on rows in memory like the repository on the database.
 * @param revenue account that stores the revenue of this process
 * @param nextHoldId returns an id that no other hold has
 */
export function createLedgerWorkingSet(
  rows: LedgerRows,
  { revenue, nextHoldId }: { revenue: string; nextHoldId: () => number },
): LedgerWorkingSet {
  const accounts = new Map<string, AccountAmounts>()
  const newHolds: (NewHold & { id: number })[] = []
  const endedHolds = new Map<number, { state: HoldEnd; atMs: number }>()
  const keyDays = new Map<string, KeyDay & KeyDayAmounts>()
  const newTransfers: StoredTransfer[] = []
  const meters = new Map<SandboxId, StoredMeter>()
  const holds = new Map(rows.holds.map((hold) => [hold.id, hold]))
  let count = 0

  const toStored = (account: string): string => (account === revenueAccount ? revenue : account)
  const amounts = (account: string): AccountAmounts => {
    const id = toStored(account)
    const loaded = rows.accounts.get(id) ?? (id === issuedAccount ? rows.issued : undefined)
    if (!loaded) throw createUnnamedError(`account ${account}`)
    return addAmounts(loaded, accounts.get(id))
  }
  const changeAccount = (account: string, difference: Partial<AccountAmounts>): AccountAmounts => {
    const id = toStored(account)
    if (!rows.accounts.has(id)) throw createUnnamedError(`account ${account}`)
    count += 1
    accounts.set(id, addAmounts({ ...noAmounts, ...difference }, accounts.get(id)))
    return amounts(account)
  }
  const findHold = (id: number): LoadedHold | undefined => {
    if (!rows.named.holds.has(id)) throw createUnnamedError(`hold ${id}`)
    return holds.get(id)
  }
  const listOpen = (): LoadedHold[] =>
    rows.holds.filter(({ id, state }) => state === 'open' && !endedHolds.has(id)).toSorted((a, b) => a.id - b.id)
  const transfers = (): (TransferRow & { requestKey: string | null })[] => [...rows.transfers, ...newTransfers]

  const records: LedgerRepository = {
    balance(account) {
      const current = amounts(account)
      const posted = current.credits - current.debits
      return { posted, held: current.held, available: posted - current.held }
    },
    sumCredited: (account) => amounts(account).credits,
    addHold(hold) {
      const id = nextHoldId()
      changeAccount(hold.accountId, { held: hold.amount })
      newHolds.push({ ...hold, id })
      return id
    },
    findOpenHold(id) {
      const hold = findHold(id)
      return hold?.state === 'open' && !endedHolds.has(id) ? hold : undefined
    },
    findUnchargedExpired(id) {
      const hold = findHold(id)
      const state = endedHolds.get(id)?.state ?? hold?.state
      const isCharged = hold?.isCharged || newTransfers.some(({ holdId }) => holdId === id)
      return state === 'expired' && !isCharged ? hold : undefined
    },
    openHolds: listOpen,
    listExpiredHolds: (nowMs) => listOpen().filter(({ expiresAtMs }) => expiresAtMs <= nowMs),
    endHold(id, state, atMs) {
      findHold(id)
      count += 1
      endedHolds.set(id, { state, atMs })
    },
    releaseHold: (account, amount) => void changeAccount(account, { held: -amount }),
    removeEnded() {
      throw new Error('Ended holds are removed outside of changes.')
    },
    addTransfer({ debit, credit, ...transfer }) {
      const { amount } = transfer
      const debited = changeAccount(debit.account, { debits: amount, held: -debit.released, entries: 1 })
      const credited = changeAccount(credit.account, { credits: amount, entries: 1 })
      const row = {
        ...transfer,
        debitAccount: toStored(debit.account),
        creditAccount: toStored(credit.account),
        debitBalance: debited.credits - debited.debits,
        creditBalance: credited.credits - credited.debits,
      }
      newTransfers.push(row)
      return toTransferRow(row)
    },
    findTransfer(id) {
      if (!rows.named.transfers.has(id)) throw createUnnamedError(`transfer ${id}`)
      const row = transfers().find((it) => it.id === id)
      return row && toTransferRow(row)
    },
    findByRequestKey(requestKey) {
      if (!rows.named.requestKeys.has(requestKey)) throw createUnnamedError(`request ${requestKey}`)
      const row = transfers().find((it) => it.requestKey === requestKey)
      return row && toTransferRow(row)
    },
    sumRefunds(id) {
      const added = newTransfers.filter(({ refundOf }) => refundOf === id).reduce((sum, { amount }) => sum + amount, 0)
      return (rows.transfers.find((row) => row.id === id)?.refunded ?? 0) + added
    },
    keyDay(key) {
      const loaded = rows.keyDays.get(toKeyDayId(key))
      if (!loaded) throw createUnnamedError(`day of the key ${key.keyId}`)
      const change = keyDays.get(toKeyDayId(key)) ?? { spent: 0, held: 0 }
      return { spent: loaded.spent + change.spent, held: loaded.held + change.held }
    },
    changeKeyDay(key, change) {
      const id = toKeyDayId(key)
      if (!rows.keyDays.has(id)) throw createUnnamedError(`day of the key ${key.keyId}`)
      const before = keyDays.get(id)
      count += 1
      keyDays.set(id, { ...key, spent: (before?.spent ?? 0) + change.spent, held: (before?.held ?? 0) + change.held })
    },
    findMeter(sandboxId) {
      if (!rows.meters.has(sandboxId)) throw createUnnamedError(`meter of ${sandboxId}`)
      return meters.get(sandboxId) ?? rows.meters.get(sandboxId)
    },
    setMeter(sandboxId, meter) {
      count += 1
      meters.set(sandboxId, { ...meter, sandboxId })
    },
    removeStaleMeters() {
      throw new Error('Meters are removed outside of changes.')
    },
  }
  return {
    records,
    changes: { accounts, newHolds, endedHolds, keyDays, newTransfers, meters },
    get count() {
      return count
    },
  }
}

const noAmounts: AccountAmounts = { debits: 0, credits: 0, held: 0, entries: 0 }

function addAmounts(a: AccountAmounts, b: AccountAmounts = noAmounts): AccountAmounts {
  return {
    debits: a.debits + b.debits,
    credits: a.credits + b.credits,
    held: a.held + b.held,
    entries: a.entries + b.entries,
  }
}

/** Names the revenue of any process as the ledger knows it. */
function toTransferRow(row: TransferRow): TransferRow {
  const { id, type, debitAccount, creditAccount, amount, debitBalance, creditBalance } = row
  const { description, details, refundOf, atMs } = row
  const accounts = { debitAccount: withoutProcess(debitAccount), creditAccount: withoutProcess(creditAccount) }
  return { id, type, ...accounts, amount, debitBalance, creditBalance, description, details, refundOf, atMs }
}

function withoutProcess(account: string): string {
  return account.startsWith(`${revenueAccount}/`) ? revenueAccount : account
}

function createUnnamedError(subject: string): Error {
  return new Error(`The keys of this change do not name the ${subject}.`)
}
