import { z } from 'zod'
import {
  PaidResponse,
  Payment,
  type PaymentId,
  PaymentReceipt,
  type PaymentState,
} from '#shared/contract/paymentRecords.ts'
import type { Database } from '#storage/sqlite/openDatabase.ts'
import {
  defineTable,
  flag,
  json,
  nullable,
  number,
  type Params,
  type RowOf,
  renameColumn,
  type StoredRow,
  text,
} from '#storage/table.ts'

export const RecordedRequest = z.object({
  via: z.enum(['public', 'service']),
  /** URL of the service. The request is sent to this service only. */
  service: z.string(),
  method: z.string(),
  /** URL of the resource; for `service`, its path and query. */
  url: z.string(),
  headers: z.record(z.string(), z.string()),
  body: z.string().optional(),
  /** Whether all headers are stored. A request without its credentials cannot be repeated. */
  complete: z.boolean(),
  /** Declaration of the extension `payment-identifier` by the seller. */
  identifier: z.record(z.string(), z.unknown()).optional(),
})
export type RecordedRequest = z.infer<typeof RecordedRequest>

const Record = PaymentReceipt.omit({ answer: true })
export type PaymentRecord = z.infer<typeof Record>
const StoredRequest = RecordedRequest.extend({ raw: z.record(z.string(), z.unknown()) })
const Payload = z.object({ header: z.string(), value: z.string() })

const payments = defineTable('payments', {
  id: text(),
  /** Nullable in the record, but not in the database. */
  intentId: nullable(text()),
  state: text<PaymentState>(),
  paid: nullable(flag()),
  /** Requester, as returned by `toRequesterKey`. */
  requester: text(),
  host: text(),
  /** Search text in lower case. */
  searchText: renameColumn('words', text()),
  createdAtMs: number(),
  nextAtMs: nullable(number()),
  record: json(Record.parse),
  request: json(StoredRequest.parse),
  payload: nullable(json(Payload.parse)),
  attempts: number(),
  answer: nullable(json(PaidResponse.parse)),
})
/** Records as shown in lists. */
const summaries = defineTable('payments', { record: json(Payment.parse) })
type PaymentRow = RowOf<typeof payments>

export type StoredPayment = {
  record: PaymentRecord
  request: RecordedRequest
  /** Offer as received from the seller. */
  raw: { [name: string]: unknown }
  payload: z.infer<typeof Payload> | null
  attempts: number
  nextAtMs: number | null
  answer: PaidResponse | null
}

export type PaymentFilter = {
  state?: PaymentState | undefined
  host?: string | undefined
  from?: string | undefined
  to?: string | undefined
  search?: string | undefined
  requester?: string | undefined
  before?: PaymentId | undefined
}

/** Rows that cannot be parsed are skipped and never sent. */
export type PaymentRepository = {
  add(payment: StoredPayment): void
  /** @returns false if it was no longer in state `from` */
  change(payment: StoredPayment, from: PaymentState): boolean
  find(id: string): StoredPayment | undefined
  ofIntent(intentId: string): StoredPayment | undefined
  /** Lists payments, newest first. */
  list(filter: PaymentFilter, limit: number): Payment[]
  count(filter: PaymentFilter): number
  /** Iterates over payments, oldest first, in pages. */
  all(filter: PaymentFilter): Generator<Payment>
  /** Lists payments whose intent is undecided. */
  listUnsigned(): StoredPayment[]
  /** Lists payments that were not sent to the seller, including signed ones. */
  listUnsent(): StoredPayment[]
  due(nowMs: number): PaymentId[]
  nextAtMs(): number | undefined
  /** Lists signed payments with an unknown outcome, due or not, except those that the seller refused. */
  listUnfinished(): PaymentId[]
  atomically<T>(work: () => T): T
}

type FilterParams = Params<'state' | 'host' | 'requester' | 'fromMs' | 'toMs' | 'search'>

export function toRequesterKey({ kind, id }: { kind: string; id: string }): string {
  return `${kind} ${id}`
}

export function createPaymentRepository(database: Database): PaymentRepository {
  const selection = `SELECT ${payments.selection()} FROM payments`
  const add = database.prepare<[Params<keyof PaymentRow>]>(payments.insert)
  const changeable = ['state', 'paid', 'searchText', 'nextAtMs', 'record', 'attempts', 'answer'] as const
  const change = database.prepare<[Params<keyof PaymentRow | 'from'>]>(
    `UPDATE payments SET ${payments.assignments(changeable)}, payload = coalesce(payload, @payload)
     WHERE id = @id AND state = @from`,
  )
  const find = database.prepare<[Params<'id'>], StoredRow>(`${selection} WHERE id = @id`)
  const ofIntent = database.prepare<[Params<'intentId'>], StoredRow>(`${selection} WHERE intent_id = @intentId`)
  const condition = `(@state IS NULL OR state = @state) AND (@host IS NULL OR host = @host)
    AND (@requester IS NULL OR requester = @requester) AND (@fromMs IS NULL OR created_at_ms >= @fromMs)
    AND (@toMs IS NULL OR created_at_ms < @toMs) AND (@search IS NULL OR instr(words, @search) > 0)`
  const list = database.prepare<[FilterParams & Params<'before' | 'limit'>], StoredRow>(
    `SELECT ${summaries.selection()} FROM payments WHERE ${condition} AND (@before IS NULL OR (created_at_ms, id) <
       (SELECT created_at_ms, id FROM payments WHERE id = @before))
     ORDER BY created_at_ms DESC, id DESC LIMIT @limit`,
  )
  const count = database.prepare<[FilterParams], { count: number }>(
    `SELECT count(*) AS count FROM payments WHERE ${condition}`,
  )
  const following = database.prepare<
    [FilterParams & Params<'atMs' | 'afterId'>],
    StoredRow & { at: number; id: string }
  >(
    `SELECT ${summaries.selection()}, created_at_ms AS at, id FROM payments
     WHERE ${condition} AND (created_at_ms, id) > (@atMs, @afterId)
     ORDER BY created_at_ms, id LIMIT 200`,
  )
  const undecided = database.prepare<[], StoredRow>(
    `${selection} WHERE state IN ('planned', 'waiting') ORDER BY created_at_ms`,
  )
  const unsent = database.prepare<[], StoredRow>(
    `${selection} WHERE state IN ('planned', 'waiting') OR (state IN ('signed', 'unknown') AND attempts = 0)`,
  )
  const due = database.prepare<[Params<'nowMs'>], { id: PaymentId }>(
    'SELECT id FROM payments WHERE next_at_ms <= @nowMs ORDER BY next_at_ms LIMIT 20',
  )
  const unended = database.prepare<[], { id: PaymentId }>(
    `SELECT id FROM payments WHERE state IN ('signed', 'sent', 'unknown') ORDER BY created_at_ms LIMIT 200`,
  )
  const next = database.prepare<[], { at: number | null }>('SELECT min(next_at_ms) AS at FROM payments')

  return {
    add: (payment) => void add.run(payments.params(toRow(payment))),
    change: (payment, from) => change.run({ ...payments.params(toRow(payment)), from }).changes > 0,
    find: (id) => parseRow(find.get({ id })),
    ofIntent: (intentId) => parseRow(ofIntent.get({ intentId })),
    list: (filter, limit) =>
      list.all({ ...filterParams(filter), before: filter.before ?? null, limit }).flatMap(parseSummary),
    count: (filter) => count.get(filterParams(filter))?.count ?? 0,
    *all(filter) {
      let [atMs, afterId] = [-1, '']
      for (;;) {
        const rows = following.all({ ...filterParams(filter), atMs, afterId })
        for (const row of rows) yield* parseSummary(row)
        const last = rows.at(-1)
        if (!last) return
        ;[atMs, afterId] = [last.at, last.id]
      }
    },
    listUnsigned: () => undecided.all().flatMap((row) => parseRow(row) ?? []),
    listUnsent: () => unsent.all().flatMap((row) => parseRow(row) ?? []),
    due: (nowMs) => due.all({ nowMs }).map(({ id }) => id),
    listUnfinished: () => unended.all().map(({ id }) => id),
    nextAtMs: () => next.get()?.at ?? undefined,
    atomically: (work) => (database.inTransaction ? work() : database.transaction(work).immediate()),
  }
}

function toRow({ record, request, raw, payload, attempts, nextAtMs, answer }: StoredPayment): PaymentRow {
  const { id, intent_id: intentId, state, paid, host, title, url, pay_to: payTo, transaction } = record
  return {
    ...{ id, intentId, state, paid, host, nextAtMs, record, payload, attempts, answer },
    requester: toRequesterKey(record.requester),
    searchText: [title, url, payTo, transaction ?? ''].join('\n').toLowerCase(),
    createdAtMs: Date.parse(record.created_at),
    request: { ...request, raw },
  }
}

function filterParams({ state, host, requester, from, to, search }: PaymentFilter): FilterParams {
  return {
    state: state ?? null,
    host: host ?? null,
    requester: requester ?? null,
    fromMs: from === undefined ? null : Date.parse(from),
    toMs: to === undefined ? null : Date.parse(to),
    search: search === undefined || search === '' ? null : search.toLowerCase(),
  }
}

function parseRow(stored: StoredRow | undefined): StoredPayment | undefined {
  const row = payments.tryFromRow(stored)
  if (!row) return undefined
  const { record, payload, attempts, nextAtMs, answer } = row
  const { raw, ...request } = row.request
  return { record, request, raw, payload, attempts, nextAtMs, answer }
}

function parseSummary(row: StoredRow): Payment[] {
  const summary = summaries.tryFromRow(row)
  return summary ? [summary.record] : []
}
