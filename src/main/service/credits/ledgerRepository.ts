import type { AccountId, SandboxId } from '#shared/ids.ts'
import { type MicroUsd, toMicroUsd } from '#shared/microUsd.ts'
import type { Database } from '#storage/sqlite/openDatabase.ts'
import { defineTable, nullable, number, type Params, type RowOf, type StoredRow, text } from '#storage/table.ts'

/** Accounts of the service: the source of credits and the destination of charges. */
export const issuedAccount = 'service:issued'
export const revenueAccount = 'service:revenue'

export type TransferType = 'grant' | 'top_up' | 'adjustment' | 'transfer' | 'inference' | 'sandbox' | 'refund'

/** `available` is `posted` minus `held`. */
export type AccountBalance = { posted: number; held: number; available: number }

const holdColumns = {
  accountId: text<AccountId>(),
  keyId: nullable(text()),
  /** Days since 1970 in UTC. Null for a key without a limit. */
  keyDay: nullable(number()),
  /** Daily limit of the key. */
  keyLimit: nullable(number()),
  amount: number(toMicroUsd),
  model: text(),
}
const holds = defineTable('credit_holds', { id: number(), ...holdColumns })
const newHolds = defineTable('credit_holds', { ...holdColumns, createdAtMs: number(), expiresAtMs: number() })
export type Hold = RowOf<typeof holds>
export type NewHold = RowOf<typeof newHolds>
export type HoldEnd = 'posted' | 'voided' | 'expired'

const newTransferColumns = {
  id: text(),
  type: text<TransferType>(),
  debitAccount: text(),
  creditAccount: text(),
  amount: number(),
  /** Posted balances of both accounts after the transfer. */
  debitBalance: number(),
  creditBalance: number(),
  description: text(),
  /** Details as JSON. */
  details: nullable(text()),
  refundOf: nullable(text()),
  atMs: number(),
}
export const transferColumns = { sequence: number(), ...newTransferColumns }
export const transfers = defineTable('credit_transfers', newTransferColumns)
const newTransfers = defineTable('credit_transfers', {
  ...newTransferColumns,
  keyId: nullable(text()),
  holdId: nullable(number()),
  requestKey: nullable(text()),
})
export type TransferRow = RowOf<typeof transfers>
export type StoredTransfer = RowOf<typeof newTransfers>
export type NewTransfer = Omit<
  StoredTransfer,
  'debitAccount' | 'creditAccount' | 'debitBalance' | 'creditBalance' | 'amount'
> & {
  /** `released`: amount of the account's hold that this transfer ends. */
  debit: { account: string; released: number }
  credit: { account: string }
  amount: MicroUsd
}

export type KeyDay = { keyId: string; day: number }
export type KeyDayAmounts = { spent: number; held: number }

export const meters = defineTable('sandbox_meters', {
  sandboxId: text<SandboxId>(),
  /** Wall-clock time. */
  untilMs: number(),
  /** Start of the charged run. Null in rows of earlier versions, as are the fields below. */
  startedAtMs: nullable(number()),
  /** Running time within `epoch`. */
  runningMs: nullable(number()),
  epoch: nullable(text()),
})
export type StoredMeter = RowOf<typeof meters>
export type Meter = Omit<StoredMeter, 'sandboxId'>

/** Callers run each method in their transaction. */
export type LedgerRepository = {
  balance(account: string): AccountBalance
  sumCredited(account: string): number
  /** @returns the id of the hold */
  addHold(hold: NewHold): number
  findOpenHold(id: number): Hold | undefined
  /** Finds a hold that expired before it was settled and was not charged since. */
  findUnchargedExpired(id: number): Hold | undefined
  openHolds(): Hold[]
  listExpiredHolds(nowMs: number): Hold[]
  endHold(id: number, state: HoldEnd, atMs: number): void
  releaseHold(account: string, amount: number): void
  /** Deletes a batch of ended holds, oldest first. @returns whether there may be more */
  removeEnded(beforeMs: number): boolean
  addTransfer(transfer: NewTransfer): TransferRow
  findTransfer(id: string): TransferRow | undefined
  findByRequestKey(requestKey: string): TransferRow | undefined
  sumRefunds(id: string): number
  keyDay(key: KeyDay): KeyDayAmounts
  changeKeyDay(key: KeyDay, change: KeyDayAmounts): void
  findMeter(sandboxId: SandboxId): Meter | undefined
  setMeter(sandboxId: SandboxId, meter: Meter): void
  /** Removes meters of deleted sandboxes. Safe only while no charge of them is pending, as at startup. */
  removeStaleMeters(): void
}

const removalBatchSize = 500

export function createLedgerRepository(database: Database): LedgerRepository {
  const holdSelection = `SELECT ${holds.selection()} FROM credit_holds`
  const transferSelection = `SELECT ${transfers.selection()} FROM credit_transfers`
  const balance = database.prepare<[Params<'account'>], AccountBalance>(
    `SELECT credits - debits AS posted, held, credits - debits - held AS available FROM credit_accounts
     WHERE id = @account`,
  )
  const received = database.prepare<[Params<'account'>], { credits: number }>(
    'SELECT credits FROM credit_accounts WHERE id = @account',
  )
  const addAccount = database.prepare<[Params<'account'>]>(
    `INSERT INTO credit_accounts (id, kind) VALUES (@account, 'user') ON CONFLICT (id) DO NOTHING`,
  )
  const addHold = database.prepare<[Params<keyof NewHold>], Pick<Hold, 'id'>>(`${newHolds.insert} RETURNING id`)
  const addHoldQuery = database.prepare<[Params<'account' | 'amount'>]>(
    'UPDATE credit_accounts SET held = held + @amount WHERE id = @account',
  )
  const findOpen = database.prepare<[Params<'id'>], StoredRow>(`${holdSelection} WHERE id = @id AND state = 'open'`)
  const findUncharged = database.prepare<[Params<'id'>], StoredRow>(
    `${holdSelection} WHERE id = @id AND state = 'expired'
     AND NOT EXISTS (SELECT 1 FROM credit_transfers WHERE hold_id = credit_holds.id)`,
  )
  const open = database.prepare<[], StoredRow>(
    `${holdSelection} INDEXED BY credit_holds_open
     WHERE state = 'open' ORDER BY id`,
  )
  const expired = database.prepare<[Params<'nowMs'>], StoredRow>(
    `${holdSelection} INDEXED BY credit_holds_open
     WHERE state = 'open' AND expires_at_ms <= @nowMs ORDER BY id`,
  )
  const endHold = database.prepare<[Params<'id' | 'state' | 'atMs'>]>(
    `UPDATE credit_holds SET state = @state, ended_at_ms = @atMs WHERE id = @id AND state = 'open'`,
  )
  const removeEnded = database.prepare<[Params<'beforeMs'>]>(
    `DELETE FROM credit_holds WHERE state <> 'open' AND ended_at_ms < @beforeMs
     AND id IN (SELECT id FROM credit_holds ORDER BY id LIMIT ${removalBatchSize})`,
  )
  const debit = database.prepare<[Params<'account' | 'amount' | 'released'>], { balance: number }>(
    `UPDATE credit_accounts SET held = held - @released, debits = debits + @amount, entries = entries + 1
     WHERE id = @account
     RETURNING credits - debits AS balance`,
  )
  const credit = database.prepare<[Params<'account' | 'amount'>], { balance: number }>(
    `UPDATE credit_accounts SET credits = credits + @amount, entries = entries + 1
     WHERE id = @account
     RETURNING credits - debits AS balance`,
  )
  const addTransfer = database.prepare<[Params<keyof StoredTransfer>], StoredRow>(
    `${newTransfers.insert} RETURNING ${transfers.selection()}`,
  )
  const findTransfer = database.prepare<[Params<'id'>], StoredRow>(`${transferSelection} WHERE id = @id`)
  const findByRequestKeyQuery = database.prepare<[Params<'requestKey'>], StoredRow>(
    `${transferSelection} WHERE request_key = @requestKey`,
  )
  const refunded = database.prepare<[Params<'id'>], { total: number }>(
    'SELECT coalesce(sum(amount), 0) AS total FROM credit_transfers WHERE refund_of = @id',
  )
  const keyDay = database.prepare<[Params<keyof KeyDay>], KeyDayAmounts>(
    'SELECT spent, held FROM credit_key_days WHERE key_id = @keyId AND day = @day',
  )
  const changeKeyDay = database.prepare<[Params<keyof KeyDay | keyof KeyDayAmounts>]>(
    `UPDATE credit_key_days SET spent = spent + @spent, held = held + @held WHERE key_id = @keyId AND day = @day`,
  )
  const addKeyDay = database.prepare<[Params<keyof KeyDay>]>(
    'INSERT INTO credit_key_days (key_id, day) VALUES (@keyId, @day) ON CONFLICT (key_id, day) DO NOTHING',
  )
  const findMeter = database.prepare<[Params<'sandboxId'>], StoredRow>(
    `SELECT ${meters.selection()} FROM sandbox_meters WHERE sandbox_id = @sandboxId`,
  )
  const setMeter = database.prepare<[Params<keyof StoredMeter>]>(meters.upsert(['sandboxId']))
  const removeStaleMeters = database.prepare(
    'DELETE FROM sandbox_meters WHERE sandbox_id NOT IN (SELECT id FROM sandboxes)',
  )
  const requireBalance = (row: { balance: number } | undefined, account: string): number => {
    if (row) return row.balance
    throw new Error(`There is no credit account ${account}.`)
  }
  const toHold = (row: StoredRow | undefined) => row && holds.fromRow(row)
  const toTransfer = (row: StoredRow | undefined) => row && transfers.fromRow(row)

  return {
    balance: (account) => balance.get({ account }) ?? { posted: 0, held: 0, available: 0 },
    sumCredited: (account) => received.get({ account })?.credits ?? 0,
    addHold(hold) {
      const { accountId: account, amount } = hold
      if (addHoldQuery.run({ account, amount }).changes === 0) {
        addAccount.run({ account })
        addHoldQuery.run({ account, amount })
      }
      const row = addHold.get(newHolds.params(hold))
      if (!row) throw new Error('The database returned no id of a new hold.')
      return row.id
    },
    findOpenHold: (id) => toHold(findOpen.get({ id })),
    findUnchargedExpired: (id) => toHold(findUncharged.get({ id })),
    openHolds: () => open.all().map(holds.fromRow),
    listExpiredHolds: (nowMs) => expired.all({ nowMs }).map(holds.fromRow),
    endHold: (id, state, atMs) => void endHold.run({ id, state, atMs }),
    releaseHold: (account, amount) => void addHoldQuery.run({ account, amount: -amount }),
    removeEnded: (beforeMs) => removeEnded.run({ beforeMs }).changes === removalBatchSize,
    addTransfer({ debit: { account: debitAccount, released }, credit: { account: creditAccount }, ...transfer }) {
      const { amount } = transfer
      if (creditAccount !== revenueAccount) addAccount.run({ account: creditAccount })
      const debitBalance = requireBalance(debit.get({ account: debitAccount, amount, released }), debitAccount)
      const creditBalance = requireBalance(credit.get({ account: creditAccount, amount }), creditAccount)
      const accounts = { debitAccount, creditAccount, debitBalance, creditBalance }
      const row = toTransfer(addTransfer.get(newTransfers.params({ ...transfer, ...accounts })))
      if (!row) throw new Error('The database returned no row of a new transfer.')
      return row
    },
    findTransfer: (id) => toTransfer(findTransfer.get({ id })),
    findByRequestKey: (requestKey) => toTransfer(findByRequestKeyQuery.get({ requestKey })),
    sumRefunds: (id) => refunded.get({ id })?.total ?? 0,
    keyDay: ({ keyId, day }) => keyDay.get({ keyId, day }) ?? { spent: 0, held: 0 },
    changeKeyDay({ keyId, day }, { spent, held }) {
      addKeyDay.run({ keyId, day })
      changeKeyDay.run({ keyId, day, spent, held })
    },
    findMeter(sandboxId) {
      const row = findMeter.get({ sandboxId })
      if (!row) return undefined
      const { sandboxId: _, ...meter } = meters.fromRow(row)
      return meter
    },
    setMeter: (sandboxId, meter) => void setMeter.run(meters.params({ ...meter, sandboxId })),
    removeStaleMeters: () => void removeStaleMeters.run(),
  }
}
