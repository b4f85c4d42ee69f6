import { PaymentBudgetLimits } from '../../../shared/contract/paymentBudgets.ts'
import type { Database } from '../../storage/openDatabase.ts'

/** Of one payment that was approved. */
export type BudgetEntry = {
  /** Of the intent. */
  id: string
  amountMicroUsd: number
  host: string
  /** `eip155:8453:0x…`, in lower case. */
  payee: string
  atMs: number
}
/** What a signature can be looked up by. */
export type SignedEntry = { payer: string; nonce: string; validBeforeMs: number }
export type OpenEntry = BudgetEntry & SignedEntry
export type KnownPayee = { host: string; network: string; payTo: string; sinceMs: number }
export type Used = { spent: number; held: number }
type Since = { sinceMs: number; host?: string; payee?: string }

export type PaymentBudgetRepository = {
  /** @returns undefined where they cannot be understood */
  limits(): PaymentBudgetLimits | undefined
  setLimits(limits: PaymentBudgetLimits): void
  /** @throws Error when this id has a reservation already */
  reserve(entry: BudgetEntry): void
  /** Of what is reserved. @returns whether it was */
  sign(id: string, signed: SignedEntry | undefined): BudgetEntry | undefined
  giveBack(id: string): void
  /** Of what was signed: what became of it. @param amountMicroUsd where less was taken than was signed */
  settle(id: string, state: 'spent' | 'void', amountMicroUsd?: number): boolean
  /** Signed, and could not be used any more at this time: what became of it is not known. */
  overdue(nowMs: number): OpenEntry[]
  used(since: Since): Used
  /** Paid by chats; what running answers hold counts whenever they began. */
  chats(sinceMs: number): Used
  payees(): KnownPayee[]
  payeeOf(host: string, network: string): string | undefined
  pin(payee: KnownPayee): void
  /** @returns whether there was one */
  forget(host: string): boolean
  atomically<T>(work: () => T): T
}

/** What holds before the person chose: no limit, and no payee is paid without a question. */
export const initialLimits: PaymentBudgetLimits = {
  payment_micro_usd: null,
  day_micro_usd: null,
  month_micro_usd: null,
  hosts: [],
  payees: [],
  local_servers: [],
  ask_first_payee: true,
}

export function paymentBudgetRepository(database: Database): PaymentBudgetRepository {
  const limits = database.prepare<[], { limits: string }>('SELECT limits FROM payment_limits')
  const setLimits = database.prepare<[string]>(
    'INSERT INTO payment_limits VALUES (1, ?) ON CONFLICT (only) DO UPDATE SET limits = excluded.limits',
  )
  const columns = 'id, amount_micro_usd AS amountMicroUsd, host, payee, at_ms AS atMs'
  const reserve = database.prepare<[BudgetEntry]>(
    `INSERT INTO payment_budget_entries (id, state, amount_micro_usd, host, payee, at_ms)
     VALUES (@id, 'reserved', @amountMicroUsd, @host, @payee, @atMs)`,
  )
  const sign = database.prepare<[{ id: string } & { [K in keyof SignedEntry]: SignedEntry[K] | null }], BudgetEntry>(
    `UPDATE payment_budget_entries SET state = 'signed', payer = @payer, nonce = @nonce, valid_before_ms = @validBeforeMs
     WHERE id = @id AND state = 'reserved' RETURNING ${columns}`,
  )
  const giveBack = database.prepare<[string]>(`DELETE FROM payment_budget_entries WHERE id = ? AND state = 'reserved'`)
  const settle = database.prepare<[{ id: string; state: string; amount: number | null }]>(
    `UPDATE payment_budget_entries SET state = @state, amount_micro_usd = min(amount_micro_usd, coalesce(@amount, amount_micro_usd))
     WHERE id = @id AND state = 'signed'`,
  )
  const overdue = database.prepare<[number], OpenEntry>(
    `SELECT ${columns}, payer, nonce, valid_before_ms AS validBeforeMs FROM payment_budget_entries
     WHERE state = 'signed' AND valid_before_ms < ? ORDER BY valid_before_ms LIMIT 100`,
  )
  const used = database.prepare<[{ sinceMs: number; host: string | null; payee: string | null }], Used>(
    `SELECT coalesce(sum(iif(state = 'spent', amount_micro_usd, 0)), 0) AS spent,
       coalesce(sum(iif(state IN ('reserved', 'signed'), amount_micro_usd, 0)), 0) AS held
     FROM payment_budget_entries
     WHERE at_ms > @sinceMs AND state <> 'void' AND (@host IS NULL OR host = @host) AND (@payee IS NULL OR payee = @payee)`,
  )
  const chatsSpent = database.prepare<[number], { amount: number }>(
    'SELECT coalesce(sum(cost_micro_usd), 0) AS amount FROM spend_entries WHERE at_ms > ?',
  )
  const chatsHeld = database.prepare<[], { amount: number }>(
    'SELECT coalesce(sum(amount_micro_usd), 0) AS amount FROM spend_reservations',
  )
  const payees = database.prepare<[], KnownPayee>(
    'SELECT host, network, pay_to AS payTo, since_ms AS sinceMs FROM payment_payees ORDER BY host, network',
  )
  const payeeOf = database.prepare<[string, string], { payTo: string }>(
    'SELECT pay_to AS payTo FROM payment_payees WHERE host = ? AND network = ?',
  )
  const pin = database.prepare<[KnownPayee]>(
    'INSERT INTO payment_payees VALUES (@host, @network, @payTo, @sinceMs) ON CONFLICT DO NOTHING',
  )
  const forget = database.prepare<[string]>('DELETE FROM payment_payees WHERE host = ?')

  return {
    limits() {
      const row = limits.get()
      return row ? understood(row.limits) : initialLimits
    },
    setLimits: (given) => void setLimits.run(JSON.stringify(given)),
    reserve: (entry) => void reserve.run(entry),
    sign: (id, signed) => sign.get({ ...(signed ?? { payer: null, nonce: null, validBeforeMs: null }), id }),
    giveBack: (id) => void giveBack.run(id),
    settle(id, state, amountMicroUsd) {
      const amount = state === 'spent' ? (amountMicroUsd ?? null) : null
      return settle.run({ id, state, amount }).changes > 0
    },
    overdue: (nowMs) => overdue.all(nowMs),
    used: ({ sinceMs, host, payee }) =>
      used.get({ sinceMs, host: host ?? null, payee: payee ?? null }) ?? { spent: 0, held: 0 },
    chats: (sinceMs) => ({ spent: chatsSpent.get(sinceMs)?.amount ?? 0, held: chatsHeld.get()?.amount ?? 0 }),
    payees: () => payees.all(),
    payeeOf: (host, network) => payeeOf.get(host, network)?.payTo,
    pin: (payee) => void pin.run(payee),
    forget: (host) => forget.run(host).changes > 0,
    atomically: (work) => (database.inTransaction ? work() : database.transaction(work).immediate()),
  }
}

function understood(text: string): PaymentBudgetLimits | undefined {
  try {
    return PaymentBudgetLimits.safeParse(JSON.parse(text)).data
  } catch {
    return undefined // the caller refuses everything then
  }
}
