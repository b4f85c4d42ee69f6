import type { Spend, SpendLimits } from '../../../shared/contract/chats.ts'
import type { Database } from '../../storage/openDatabase.ts'

/** One answer that costs money. `id` is the message's: it is reserved once and settled once. */
export type SpendReservation = {
  id: string
  conversationId: string
  model: string
  /** Of UTC, as `2026-11-22`. */
  day: string
  amountMicroUsd: number
}

/** What it came to, in micro-dollars and tokens. */
export type SpendActual = {
  costMicroUsd: number
  savedMicroUsd: number
  inputTokens: number
  cachedTokens: number
  outputTokens: number
  estimated: boolean
}

export type SpendScope = 'day' | 'conversation'
export type SpendFilter = {
  from: string | undefined
  to: string | undefined
  conversationId: string | undefined
}
export type SpendSum = Spend & { key: string }

export type SpendRepository = {
  limits(scope: SpendScope): SpendLimits
  setLimits(scope: SpendScope, limits: SpendLimits): void
  spent(scope: SpendScope, key: string): number
  reserved(scope: SpendScope, key: string): number
  addReservation(reservation: SpendReservation): void
  /** @returns undefined when it was settled, released, or never there */
  takeReservation(id: string): SpendReservation | undefined
  openReservations(): SpendReservation[]
  addEntry(reservation: SpendReservation, actual: SpendActual, atMs: number): void
  ofConversation(conversationId: string): Spend
  sums(by: 'day' | 'model' | 'conversation', filter: SpendFilter, limit: number): SpendSum[]
  total(filter: SpendFilter): Spend
  atomically<T>(work: () => T): T
}

type SumRow = Omit<Spend, 'estimated'> & { estimated: 0 | 1 | null; key?: string | null }

const sum = (column: string) => `coalesce(sum(${column}), 0) AS ${column}`
const sumColumns = `${['cost_micro_usd', 'saved_micro_usd', 'input_tokens', 'cached_tokens', 'output_tokens'].map(sum).join(', ')},
  count(*) AS answers, max(estimated) AS estimated`
const filtered = `(@from IS NULL OR day >= @from) AND (@to IS NULL OR day <= @to)
  AND (@conversationId IS NULL OR conversation_id = @conversationId)`
const keys = { day: 'day', model: 'model', conversation: 'conversation_id' } as const
const scopeColumns = { day: 'day', conversation: 'conversation_id' } as const

export function spendRepository(database: Database): SpendRepository {
  const limits = database.prepare<[string], SpendLimits>(
    'SELECT soft_micro_usd, hard_micro_usd FROM spend_limits WHERE scope = ?',
  )
  const setLimits = database.prepare<[SpendLimits & { scope: string }]>(
    `INSERT INTO spend_limits VALUES (@scope, @soft_micro_usd, @hard_micro_usd)
     ON CONFLICT (scope) DO UPDATE SET soft_micro_usd = @soft_micro_usd, hard_micro_usd = @hard_micro_usd`,
  )
  const amountOf = (table: string, column: string) => (scope: SpendScope) =>
    database.prepare<[string], { amount: number }>(
      `SELECT coalesce(sum(${column}), 0) AS amount FROM ${table} WHERE ${scopeColumns[scope]} = ?`,
    )
  const ofEach = (make: (scope: SpendScope) => ReturnType<ReturnType<typeof amountOf>>) => ({
    day: make('day'),
    conversation: make('conversation'),
  })
  const spent = ofEach(amountOf('spend_entries', 'cost_micro_usd'))
  const reserved = ofEach(amountOf('spend_reservations', 'amount_micro_usd'))
  const add = database.prepare<[SpendReservation]>(
    'INSERT INTO spend_reservations VALUES (@id, @conversationId, @model, @day, @amountMicroUsd)',
  )
  const columns = 'id, conversation_id AS conversationId, model, day, amount_micro_usd AS amountMicroUsd'
  const take = database.prepare<[string], SpendReservation>(
    `DELETE FROM spend_reservations WHERE id = ? RETURNING ${columns}`,
  )
  const open = database.prepare<[], SpendReservation>(`SELECT ${columns} FROM spend_reservations`)
  const addEntry = database.prepare(
    `INSERT INTO spend_entries VALUES (@id, @conversationId, @model, @day, @costMicroUsd, @savedMicroUsd, @inputTokens,
       @cachedTokens, @outputTokens, @estimated, @atMs)`,
  )
  const ofConversation = database.prepare<[string], SumRow>(
    `SELECT ${sumColumns} FROM spend_entries WHERE conversation_id = ?`,
  )
  const total = database.prepare<[object], SumRow>(`SELECT ${sumColumns} FROM spend_entries WHERE ${filtered}`)
  const sums = (by: keyof typeof keys) =>
    database.prepare<[object], SumRow>(
      `SELECT ${keys[by]} AS key, ${sumColumns} FROM spend_entries WHERE ${filtered} GROUP BY key
       ORDER BY ${by === 'day' ? 'key DESC' : 'cost_micro_usd DESC, key'} LIMIT @limit`,
    )
  const sumsBy = { day: sums('day'), model: sums('model'), conversation: sums('conversation') }

  return {
    limits: (scope) => limits.get(scope) ?? { soft_micro_usd: null, hard_micro_usd: null },
    setLimits: (scope, given) => void setLimits.run({ ...given, scope }),
    spent: (scope, key) => spent[scope].get(key)?.amount ?? 0,
    reserved: (scope, key) => reserved[scope].get(key)?.amount ?? 0,
    addReservation: (reservation) => void add.run(reservation),
    takeReservation: (id) => take.get(id),
    openReservations: () => open.all(),
    addEntry: (reservation, actual, atMs) =>
      void addEntry.run({ ...reservation, ...actual, atMs, estimated: actual.estimated ? 1 : 0 }),
    ofConversation: (id) => spendOf(ofConversation.get(id)),
    sums: (by, filter, limit) =>
      sumsBy[by].all(given(filter, limit)).map((row) => ({ ...spendOf(row), key: row.key ?? '' })),
    total: (filter) => spendOf(total.get(given(filter))),
    atomically: (work) => database.transaction(work).immediate(),
  }
}

function given({ from, to, conversationId }: SpendFilter, limit?: number) {
  return { from: from ?? null, to: to ?? null, conversationId: conversationId ?? null, limit: limit ?? null }
}

function spendOf(row: SumRow | undefined): Spend {
  if (!row) throw new Error('A sum has always one row.')
  const { key: _, estimated, ...numbers } = row
  return { ...numbers, estimated: estimated === 1 }
}
