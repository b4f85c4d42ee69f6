import { PaymentBudgetLimits } from '#shared/contract/paymentBudgets.ts'
import type { Database } from '#storage/sqlite/openDatabase.ts'
import {
  defineTable,
  lenientJson,
  nullable,
  number,
  type Params,
  type RowOf,
  type StoredRow,
  text,
} from '#storage/table.ts'

const limitTable = defineTable('payment_limits', {
  /** Key of the single row. */
  only: number<1>(),
  limits: lenientJson<PaymentBudgetLimits | undefined>(PaymentBudgetLimits.parse, undefined),
})
const entryTable = defineTable('payment_budget_entries', {
  /** Id of the intent. */
  id: text(),
  amountMicroUsd: number(),
  host: text(),
  /** `eip155:8453:0x…`, in lower case. */
  payee: text(),
  atMs: number(),
})
/** Columns of signed entries, which identify the signature. */
const signatureTable = defineTable('payment_budget_entries', {
  payer: text(),
  nonce: text(),
  validBeforeMs: number(),
  /** Service that was connected at that time, see `AuthorizationLookup`. */
  service: nullable(text()),
})
const payeeTable = defineTable('payment_payees', {
  host: text(),
  network: text(),
  payTo: text(),
  sinceMs: number(),
})

/** Approved payment. */
export type BudgetEntry = RowOf<typeof entryTable>
export type SignedEntry = RowOf<typeof signatureTable>
export type OpenEntry = BudgetEntry & SignedEntry
export type StoredPayee = RowOf<typeof payeeTable>
/** Amounts in micro-dollars. */
export type BudgetUsage = { spent: number; reserved: number }
type Since = { sinceMs: number; host?: string; payee?: string }

export type PaymentBudgetRepository = {
  /** @returns undefined if the limits cannot be parsed. The caller then denies every payment */
  limits(): PaymentBudgetLimits | undefined
  setLimits(limits: PaymentBudgetLimits): void
  /** @throws Error if this id has a reservation already */
  reserve(entry: BudgetEntry): void
  /** Marks a reserved entry as signed. @returns undefined if it was not reserved */
  sign(id: string, signed: SignedEntry | undefined): BudgetEntry | undefined
  giveBack(id: string): void
  /**
   * Settles a signed entry.
   * @param amountMicroUsd actual amount, if lower than the signed one
   * @returns whether the entry was signed
   */
  settle(id: string, state: 'spent' | 'void', amountMicroUsd?: number): boolean
  /** Lists signed entries whose signature has expired at this time and whose outcome is unknown. */
  overdue(nowMs: number): OpenEntry[]
  sum(since: Since): BudgetUsage
  /** Returns the costs of chats. Reservations of running messages count regardless of their start time. */
  chats(sinceMs: number): BudgetUsage
  payees(): StoredPayee[]
  findPayee(host: string, network: string): string | undefined
  pin(payee: StoredPayee): void
  /** @returns whether a payee was pinned */
  forget(host: string): boolean
  atomically<T>(work: () => T): T
}

const unsigned = { payer: null, nonce: null, validBeforeMs: null, service: null }

/** Limits before the user sets any: none, but each first payee needs approval. */
export const initialLimits: PaymentBudgetLimits = {
  payment_micro_usd: null,
  day_micro_usd: null,
  month_micro_usd: null,
  hosts: [],
  payees: [],
  local_servers: [],
  ask_first_payee: true,
}

export function createPaymentBudgetRepository(database: Database): PaymentBudgetRepository {
  const limits = database.prepare<[], StoredRow>(`SELECT ${limitTable.selection()} FROM payment_limits`)
  const setLimits = database.prepare<[Params<'only' | 'limits'>]>(limitTable.upsert(['only']))
  const reserve = database.prepare<[Params<keyof BudgetEntry>]>(entryTable.insertWith({ state: "'reserved'" }))
  const sign = database.prepare<[Params<'id' | keyof SignedEntry>], StoredRow>(
    `UPDATE payment_budget_entries SET state = 'signed', ${signatureTable.assignments(['payer', 'nonce', 'validBeforeMs', 'service'])}
     WHERE id = @id AND state = 'reserved' RETURNING ${entryTable.selection()}`,
  )
  const giveBack = database.prepare<[Params<'id'>]>(
    `DELETE FROM payment_budget_entries WHERE id = @id AND state = 'reserved'`,
  )
  const settle = database.prepare<[Params<'id' | 'state' | 'amount'>]>(
    `UPDATE payment_budget_entries SET state = @state,
       amount_micro_usd = min(amount_micro_usd, coalesce(@amount, amount_micro_usd))
     WHERE id = @id AND state = 'signed'`,
  )
  const overdue = database.prepare<[Params<'nowMs'>], StoredRow>(
    `SELECT ${entryTable.selection()}, ${signatureTable.selection()} FROM payment_budget_entries
     WHERE state = 'signed' AND valid_before_ms < @nowMs ORDER BY valid_before_ms LIMIT 100`,
  )
  const used = database.prepare<[Params<keyof Since>], BudgetUsage>(
    `SELECT coalesce(sum(iif(state = 'spent', amount_micro_usd, 0)), 0) AS spent,
       coalesce(sum(iif(state IN ('reserved', 'signed'), amount_micro_usd, 0)), 0) AS reserved
     FROM payment_budget_entries
     WHERE at_ms > @sinceMs AND state <> 'void' AND (@host IS NULL OR host = @host) AND (@payee IS NULL OR payee = @payee)`,
  )
  const chatsSpentQuery = database.prepare<[Params<'sinceMs'>], { amount: number }>(
    'SELECT coalesce(sum(cost_micro_usd), 0) AS amount FROM spend_entries WHERE at_ms > @sinceMs',
  )
  const chatReservationsQuery = database.prepare<[], { amount: number }>(
    'SELECT coalesce(sum(amount_micro_usd), 0) AS amount FROM spend_reservations',
  )
  const payees = database.prepare<[], StoredRow>(
    `SELECT ${payeeTable.selection()} FROM payment_payees ORDER BY host, network`,
  )
  const payeeOf = database.prepare<[Params<'host' | 'network'>], { payTo: string }>(
    'SELECT pay_to AS "payTo" FROM payment_payees WHERE host = @host AND network = @network',
  )
  const pin = database.prepare<[Params<keyof StoredPayee>]>(
    `${payeeTable.insert} ON CONFLICT (host, network) DO NOTHING`,
  )
  const forget = database.prepare<[Params<'host'>]>('DELETE FROM payment_payees WHERE host = @host')

  return {
    limits() {
      const row = limits.get()
      return row ? limitTable.fromRow(row).limits : initialLimits
    },
    setLimits: (value) => void setLimits.run(limitTable.params({ only: 1, limits: value })),
    reserve: (entry) => void reserve.run(entryTable.params(entry)),
    sign(id, signature) {
      const columns = signature ? signatureTable.params(signature) : unsigned
      const row = sign.get({ ...columns, id })
      return row && entryTable.fromRow(row)
    },
    giveBack: (id) => void giveBack.run({ id }),
    settle(id, state, amountMicroUsd) {
      const amount = state === 'spent' ? (amountMicroUsd ?? null) : null
      return settle.run({ id, state, amount }).changes > 0
    },
    overdue: (nowMs) =>
      overdue.all({ nowMs }).map((row) => ({ ...entryTable.fromRow(row), ...signatureTable.fromRow(row) })),
    sum: ({ sinceMs, host, payee }) =>
      used.get({ sinceMs, host: host ?? null, payee: payee ?? null }) ?? { spent: 0, reserved: 0 },
    chats: (sinceMs) => ({
      spent: chatsSpentQuery.get({ sinceMs })?.amount ?? 0,
      reserved: chatReservationsQuery.get()?.amount ?? 0,
    }),
    payees: () => payees.all().map(payeeTable.fromRow),
    findPayee: (host, network) => payeeOf.get({ host, network })?.payTo,
    pin: (payee) => void pin.run(payeeTable.params(payee)),
    forget: (host) => forget.run({ host }).changes > 0,
    atomically: (work) => (database.inTransaction ? work() : database.transaction(work).immediate()),
  }
}
