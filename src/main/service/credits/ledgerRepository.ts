import { AccountId, type SandboxId } from '../../../shared/ids.ts'
import { type MicroUsd, microUsd } from '../../../shared/microUsd.ts'
import type { Database } from '../../storage/openDatabase.ts'

/** The accounts of the service itself: where credits come from, and where charges go. */
export const issuedAccount = 'service:issued'
export const revenueAccount = 'service:revenue'

export type TransferType = 'grant' | 'top_up' | 'adjustment' | 'transfer' | 'inference' | 'sandbox' | 'refund'

/** `available` is what is posted without what is held. */
export type AccountBalance = { posted: number; held: number; available: number }

export type Hold = {
  id: number
  accountId: AccountId
  keyId: string | null
  /** Days since 1970 in UTC, and the limit of the key; null for one without. */
  keyDay: number | null
  keyLimit: number | null
  amount: MicroUsd
  model: string
}
export type HoldEnd = 'posted' | 'voided' | 'expired'

export type NewTransfer = {
  id: string
  type: TransferType
  /** With `released`: of its hold that ends by this. */
  debit: { account: string; released: number }
  credit: { account: string }
  amount: MicroUsd
  description: string
  details: string | null
  keyId: string | null
  holdId: number | null
  refundOf: string | null
  requestKey: string | null
  atMs: number
}

export type TransferRow = {
  sequence: number
  id: string
  type: TransferType
  debitAccount: string
  creditAccount: string
  amount: number
  debitBalance: number
  creditBalance: number
  description: string
  details: string | null
  refundOf: string | null
  atMs: number
}

export type KeyDay = { keyId: string; day: number }

/** Each call is meant for a transaction of the caller. */
/** Point until which a sandbox was charged. */
export type Meter = {
  /** By the wall clock. */
  untilMs: number
  /** Start of the charged run; null in rows of earlier versions, like the fields below. */
  startedAtMs: number | null
  /** Running time of `epoch`. */
  runningMs: number | null
  epoch: string | null
}

export type LedgerRepository = {
  balance(account: string): AccountBalance
  /** All that it was ever given. */
  received(account: string): number
  addHold(hold: Omit<Hold, 'id'> & { createdAtMs: number; expiresAtMs: number }): number
  findOpenHold(id: number): Hold | undefined
  /** Whether it expired before it was settled, and was not charged since. */
  findUnchargedExpired(id: number): Hold | undefined
  openHolds(): Hold[]
  expiredHolds(nowMs: number): Hold[]
  endHold(id: number, state: HoldEnd, atMs: number): void
  releaseHeld(account: string, amount: number): void
  /** Deletes a batch, oldest first. @returns whether there may be more */
  removeEnded(beforeMs: number): boolean
  addTransfer(transfer: NewTransfer): TransferRow
  findTransfer(id: string): TransferRow | undefined
  findAsked(requestKey: string): TransferRow | undefined
  refundedOf(id: string): number
  keyDay(of: KeyDay): { spent: number; held: number }
  changeKeyDay(of: KeyDay, change: { spent: number; held: number }): void
  findMeter(sandboxId: SandboxId): Meter | undefined
  setMeter(sandboxId: SandboxId, meter: Meter): void
  /** Removes meters of deleted sandboxes. Only safe while none of them has a charge outstanding, as at a start. */
  removeStaleMeters(): void
}

export const transferColumns = `sequence, id, type, debit_account AS debitAccount, credit_account AS creditAccount, amount,
  debit_balance AS debitBalance, credit_balance AS creditBalance, description, details,
  refund_of AS refundOf, at_ms AS atMs`
const holdColumns =
  'id, account_id AS accountId, key_id AS keyId, key_day AS keyDay, key_limit AS keyLimit, amount, model'
type HoldRow = Omit<Hold, 'accountId' | 'amount'> & { accountId: string; amount: number }

const removedAtOnce = 500

export function ledgerRepository(database: Database): LedgerRepository {
  const balance = database.prepare<[string], AccountBalance>(
    `SELECT credits - debits AS posted, held, credits - debits - held AS available FROM credit_accounts WHERE id = ?`,
  )
  const received = database.prepare<[string], { credits: number }>('SELECT credits FROM credit_accounts WHERE id = ?')
  const addAccount = database.prepare<[string]>(`INSERT OR IGNORE INTO credit_accounts (id, kind) VALUES (?, 'user')`)
  const addHold = database.prepare<
    [string, string | null, number | null, number | null, number, string, number, number]
  >(
    `INSERT INTO credit_holds (account_id, key_id, key_day, key_limit, amount, model, created_at_ms, expires_at_ms)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const addHeld = database.prepare<[number, string]>('UPDATE credit_accounts SET held = held + ? WHERE id = ?')
  const findOpen = database.prepare<[number], HoldRow>(
    `SELECT ${holdColumns} FROM credit_holds WHERE id = ? AND state = 'open'`,
  )
  const findUncharged = database.prepare<[number], HoldRow>(
    `SELECT ${holdColumns} FROM credit_holds WHERE id = ? AND state = 'expired'
     AND NOT EXISTS (SELECT 1 FROM credit_transfers WHERE hold_id = credit_holds.id)`,
  )
  const open = database.prepare<[], HoldRow>(
    `SELECT ${holdColumns} FROM credit_holds INDEXED BY credit_holds_open
     WHERE state = 'open' ORDER BY id`,
  )
  const expired = database.prepare<[number], HoldRow>(
    `SELECT ${holdColumns} FROM credit_holds INDEXED BY credit_holds_open
     WHERE state = 'open' AND expires_at_ms <= ? ORDER BY id`,
  )
  const endHold = database.prepare<[HoldEnd, number, number]>(
    `UPDATE credit_holds SET state = ?, ended_at_ms = ? WHERE id = ? AND state = 'open'`,
  )
  const removeEnded = database.prepare<[number]>(
    `DELETE FROM credit_holds WHERE state <> 'open' AND ended_at_ms < ?
     AND id IN (SELECT id FROM credit_holds ORDER BY id LIMIT ${removedAtOnce})`,
  )
  const debit = database.prepare<[number, number, string], { balance: number }>(
    `UPDATE credit_accounts SET held = held - ?, debits = debits + ?, entries = entries + 1 WHERE id = ?
     RETURNING credits - debits AS balance`,
  )
  const credit = database.prepare<[number, string], { balance: number }>(
    `UPDATE credit_accounts SET credits = credits + ?, entries = entries + 1 WHERE id = ?
     RETURNING credits - debits AS balance`,
  )
  const addTransfer = database.prepare<unknown[], TransferRow>(
    `INSERT INTO credit_transfers (id, type, debit_account, credit_account, amount, debit_balance, credit_balance,
       description, details, key_id, hold_id, refund_of, request_key, at_ms)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING ${transferColumns}`,
  )
  const findTransfer = database.prepare<[string], TransferRow>(
    `SELECT ${transferColumns} FROM credit_transfers WHERE id = ?`,
  )
  const findAsked = database.prepare<[string], TransferRow>(
    `SELECT ${transferColumns} FROM credit_transfers WHERE request_key = ?`,
  )
  const refunded = database.prepare<[string], { total: number }>(
    'SELECT coalesce(sum(amount), 0) AS total FROM credit_transfers WHERE refund_of = ?',
  )
  const keyDay = database.prepare<[string, number], { spent: number; held: number }>(
    'SELECT spent, held FROM credit_key_days WHERE key_id = ? AND day = ?',
  )
  const changeKeyDay = database.prepare<{ keyId: string; day: number; spent: number; held: number }>(
    `UPDATE credit_key_days SET spent = spent + @spent, held = held + @held WHERE key_id = @keyId AND day = @day`,
  )
  const addKeyDay = database.prepare<[string, number]>(
    'INSERT OR IGNORE INTO credit_key_days (key_id, day) VALUES (?, ?)',
  )
  const findMeter = database.prepare<[string], Meter>(
    `SELECT until_ms AS untilMs, started_at_ms AS startedAtMs, running_ms AS runningMs, epoch
     FROM sandbox_meters WHERE sandbox_id = ?`,
  )
  const setMeter = database.prepare<Meter & { sandboxId: string }>(
    `INSERT OR REPLACE INTO sandbox_meters (sandbox_id, until_ms, started_at_ms, running_ms, epoch)
     VALUES (@sandboxId, @untilMs, @startedAtMs, @runningMs, @epoch)`,
  )
  const removeStaleMeters = database.prepare(
    'DELETE FROM sandbox_meters WHERE sandbox_id NOT IN (SELECT id FROM sandboxes)',
  )
  const balanceAfter = (row: { balance: number } | undefined, account: string): number => {
    if (row) return row.balance
    throw new Error(`There is no credit account ${account}.`)
  }

  return {
    balance: (account) => balance.get(account) ?? { posted: 0, held: 0, available: 0 },
    received: (account) => received.get(account)?.credits ?? 0,
    addHold({ accountId, keyId, keyDay: day, keyLimit, amount, model, createdAtMs, expiresAtMs }) {
      if (addHeld.run(amount, accountId).changes === 0) {
        addAccount.run(accountId)
        addHeld.run(amount, accountId)
      }
      const { lastInsertRowid } = addHold.run(accountId, keyId, day, keyLimit, amount, model, createdAtMs, expiresAtMs)
      return Number(lastInsertRowid)
    },
    findOpenHold: (id) => holdOf(findOpen.get(id)),
    findUnchargedExpired: (id) => holdOf(findUncharged.get(id)),
    openHolds: () => open.all().map(holdFrom),
    expiredHolds: (nowMs) => expired.all(nowMs).map(holdFrom),
    endHold(id, state, atMs) {
      endHold.run(state, atMs, id)
    },
    releaseHeld(account, amount) {
      addHeld.run(-amount, account)
    },
    removeEnded(beforeMs) {
      return removeEnded.run(beforeMs).changes === removedAtOnce
    },
    addTransfer(given) {
      const { id, type, amount, description, details, keyId, holdId, refundOf, requestKey, atMs } = given
      const from = given.debit.account
      const to = given.credit.account
      if (to !== revenueAccount) addAccount.run(to)
      const debited = balanceAfter(debit.get(given.debit.released, amount, from), from)
      const credited = balanceAfter(credit.get(amount, to), to)
      const row = addTransfer.get(
        ...[id, type, from, to, amount, debited, credited],
        ...[description, details, keyId, holdId, refundOf, requestKey, atMs],
      )
      if (!row) throw new Error('The journal took a transfer and gave nothing back.')
      return row
    },
    findTransfer: (id) => findTransfer.get(id),
    findAsked: (requestKey) => findAsked.get(requestKey),
    refundedOf: (id) => refunded.get(id)?.total ?? 0,
    keyDay: ({ keyId, day }) => keyDay.get(keyId, day) ?? { spent: 0, held: 0 },
    changeKeyDay({ keyId, day }, { spent, held }) {
      addKeyDay.run(keyId, day)
      changeKeyDay.run({ keyId, day, spent, held })
    },
    findMeter: (sandboxId) => findMeter.get(sandboxId),
    setMeter: (sandboxId, meter) => void setMeter.run({ sandboxId, ...meter }),
    removeStaleMeters: () => void removeStaleMeters.run(),
  }
}

function holdFrom(row: HoldRow): Hold {
  return { ...row, accountId: AccountId.parse(row.accountId), amount: microUsd(row.amount) }
}

function holdOf(row: HoldRow | undefined): Hold | undefined {
  return row && holdFrom(row)
}
