import type { Spend, SpendLimits } from '#shared/contract/chats.ts'
import type { Database } from '#storage/sqlite/openDatabase.ts'
import { defineTable, flag, nullable, number, type Params, type RowOf, type StoredRow, text } from '#storage/table.ts'

export type SpendScope = 'day' | 'conversation'

const limitTable = defineTable('spend_limits', {
  scope: text<SpendScope>(),
  soft_micro_usd: nullable(number()),
  hard_micro_usd: nullable(number()),
})
/** Message with a cost. Its id is reserved once and settled once. */
const message = {
  id: text(),
  conversationId: text(),
  model: text(),
  /** UTC day of the reservation, such as `2026-11-22`. */
  day: text(),
}
const reservationTable = defineTable('spend_reservations', { ...message, amountMicroUsd: number() })
const actual = {
  costMicroUsd: number(),
  savedMicroUsd: number(),
  inputTokens: number(),
  cachedTokens: number(),
  outputTokens: number(),
  estimated: flag(),
}
const entryTable = defineTable('spend_entries', { ...message, ...actual, atMs: number() })

export type SpendReservation = RowOf<typeof reservationTable>
/** Cost in micro-dollars, and tokens. */
export type SpendActual = RowOf<{ columns: typeof actual }>

export type SpendFilter = {
  from: string | undefined
  to: string | undefined
  conversationId: string | undefined
}
export type SpendSum = Spend & { key: string }

export type SpendRepository = {
  limits(scope: SpendScope): SpendLimits
  setLimits(scope: SpendScope, limits: SpendLimits): void
  sumSpent(scope: SpendScope, key: string): number
  sumReserved(scope: SpendScope, key: string): number
  addReservation(reservation: SpendReservation): void
  /** Removes a reservation. @returns undefined if the reservation was settled, released, or never added */
  takeReservation(id: string): SpendReservation | undefined
  openReservations(): SpendReservation[]
  addEntry(reservation: SpendReservation, actual: SpendActual, atMs: number): void
  ofConversation(conversationId: string): Spend
  sums(by: 'day' | 'model' | 'conversation', filter: SpendFilter, limit: number): SpendSum[]
  total(filter: SpendFilter): Spend
  atomically<T>(work: () => T): T
}

type FilterParams = Params<keyof SpendFilter | 'limit'>
type SumRow = Omit<Spend, 'estimated'> & { estimated: 0 | 1 | null; key?: string | null }

const sum = (column: string) => `coalesce(sum(${column}), 0) AS ${column}`
const sumColumns = `${['cost_micro_usd', 'saved_micro_usd', 'input_tokens', 'cached_tokens', 'output_tokens'].map(sum).join(', ')},
  count(*) AS answers, max(estimated) AS estimated`
const filterCondition = `(@from IS NULL OR day >= @from) AND (@to IS NULL OR day <= @to)
  AND (@conversationId IS NULL OR conversation_id = @conversationId)`
const keys = { day: 'day', model: 'model', conversation: 'conversation_id' } as const
const scopeColumns = { day: 'day', conversation: 'conversation_id' } as const

export function createSpendRepository(database: Database): SpendRepository {
  const limits = database.prepare<[Params<'scope'>], StoredRow>(
    `SELECT ${limitTable.selection()} FROM spend_limits WHERE scope = @scope`,
  )
  const setLimits = database.prepare<[Params<keyof RowOf<typeof limitTable>>]>(limitTable.upsert(['scope']))
  const buildSum = (table: string, column: string) => (scope: SpendScope) =>
    database.prepare<[Params<'key'>], { amount: number }>(
      `SELECT coalesce(sum(${column}), 0) AS amount FROM ${table} WHERE ${scopeColumns[scope]} = @key`,
    )
  const ofEach = (make: (scope: SpendScope) => ReturnType<ReturnType<typeof buildSum>>) => ({
    day: make('day'),
    conversation: make('conversation'),
  })
  const spentSums = ofEach(buildSum('spend_entries', 'cost_micro_usd'))
  const reserved = ofEach(buildSum('spend_reservations', 'amount_micro_usd'))
  const add = database.prepare<[Params<keyof SpendReservation>]>(reservationTable.insert)
  const take = database.prepare<[Params<'id'>], StoredRow>(
    `DELETE FROM spend_reservations WHERE id = @id RETURNING ${reservationTable.selection()}`,
  )
  const open = database.prepare<[], StoredRow>(`SELECT ${reservationTable.selection()} FROM spend_reservations`)
  const addEntry = database.prepare<[Params<keyof RowOf<typeof entryTable>>]>(entryTable.insert)
  const ofConversation = database.prepare<[Params<'id'>], SumRow>(
    `SELECT ${sumColumns} FROM spend_entries WHERE conversation_id = @id`,
  )
  const total = database.prepare<[FilterParams], SumRow>(
    `SELECT ${sumColumns} FROM spend_entries WHERE ${filterCondition}`,
  )
  const sums = (by: keyof typeof keys) =>
    database.prepare<[FilterParams], SumRow>(
      `SELECT ${keys[by]} AS key, ${sumColumns} FROM spend_entries WHERE ${filterCondition} GROUP BY key
       ORDER BY ${by === 'day' ? 'key DESC' : 'cost_micro_usd DESC, key'} LIMIT @limit`,
    )
  const sumsBy = { day: sums('day'), model: sums('model'), conversation: sums('conversation') }

  return {
    limits(scope) {
      const row = limits.get({ scope })
      if (!row) return { soft_micro_usd: null, hard_micro_usd: null }
      const { scope: _, ...stored } = limitTable.fromRow(row)
      return stored
    },
    setLimits: (scope, { soft_micro_usd, hard_micro_usd }) =>
      void setLimits.run(limitTable.params({ scope, soft_micro_usd, hard_micro_usd })),
    sumSpent: (scope, key) => spentSums[scope].get({ key })?.amount ?? 0,
    sumReserved: (scope, key) => reserved[scope].get({ key })?.amount ?? 0,
    addReservation: (reservation) => void add.run(reservationTable.params(reservation)),
    takeReservation(id) {
      const row = take.get({ id })
      return row && reservationTable.fromRow(row)
    },
    openReservations: () => open.all().map(reservationTable.fromRow),
    addEntry: ({ amountMicroUsd: _, ...reservation }, cost, atMs) =>
      void addEntry.run(entryTable.params({ ...reservation, ...cost, atMs })),
    ofConversation: (id) => toSpend(ofConversation.get({ id })),
    sums: (by, filter, limit) =>
      sumsBy[by].all(filterParams(filter, limit)).map((row) => ({ ...toSpend(row), key: row.key ?? '' })),
    total: (filter) => toSpend(total.get(filterParams(filter))),
    atomically: (work) => database.transaction(work).immediate(),
  }
}

function filterParams({ from, to, conversationId }: SpendFilter, limit?: number): FilterParams {
  return { from: from ?? null, to: to ?? null, conversationId: conversationId ?? null, limit: limit ?? null }
}

function toSpend(row: SumRow | undefined): Spend {
  if (!row) throw new Error('A sum always has one row.')
  const { key: _, estimated, ...numbers } = row
  return { ...numbers, estimated: estimated === 1 }
}
