import { z } from 'zod'
import {
  PaidAnswer,
  Payment,
  type PaymentId,
  PaymentReceipt,
  type PaymentState,
} from '#shared/contract/paymentRecords.ts'
import type { Database } from '#storage/openDatabase.ts'
import {
  defineTable,
  flag,
  json,
  nullable,
  number,
  type Params,
  type RowOf,
  type StoredRow,
  text,
} from '#storage/table.ts'

export const RecordedRequest = z.object({
  via: z.enum(['public', 'service']),
  /** URL of the service. The request is repeated to this service only. */
  service: z.string(),
  method: z.string(),
  /** For `service`: path and query. */
  url: z.string(),
  headers: z.record(z.string(), z.string()),
  body: z.string().optional(),
  /** Whether it has all headers. A request whose credentials were omitted cannot be repeated. */
  complete: z.boolean(),
  /** The seller's declaration of the extension `payment-identifier`. */
  identifier: z.record(z.string(), z.unknown()).optional(),
})
export type RecordedRequest = z.infer<typeof RecordedRequest>

const Record = PaymentReceipt.omit({ answer: true })
export type PaymentRecord = z.infer<typeof Record>
const StoredRequest = RecordedRequest.extend({ raw: z.record(z.string(), z.unknown()) })
const Payload = z.object({ header: z.string(), value: z.string() })

const payments = defineTable('payments', {
  id: text(),
  /** Nullable as in the record. The database refuses null. */
  intentId: nullable(text()),
  state: text<PaymentState>(),
  paid: nullable(flag()),
  /** `requesterKey` of the requester. */
  requester: text(),
  host: text(),
  /** Text for searches, in lower case. */
  words: text(),
  createdAtMs: number(),
  nextAtMs: nullable(number()),
  record: json(Record.parse),
  request: json(StoredRequest.parse),
  payload: nullable(json(Payload.parse)),
  attempts: number(),
  answer: nullable(json(PaidAnswer.parse)),
})
/** Records as lists show them. */
const summaries = defineTable('payments', { record: json(Payment.parse) })
type PaymentRow = RowOf<typeof payments>

export type StoredPayment = {
  record: PaymentRecord
  request: RecordedRequest
  /** Offer as the seller sent it. */
  raw: { [name: string]: unknown }
  payload: z.infer<typeof Payload> | null
  /** Number of times it was sent. */
  attempts: number
  nextAtMs: number | null
  answer: PaidAnswer | null
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

/** Rows that cannot be parsed are left out, and never sent. */
export type PaymentRepository = {
  add(payment: StoredPayment): void
  /** @returns whether it was still in that state */
  change(payment: StoredPayment, from: PaymentState): boolean
  find(id: string): StoredPayment | undefined
  ofIntent(intentId: string): StoredPayment | undefined
  /** Newest first. */
  list(filter: PaymentFilter, limit: number): Payment[]
  count(filter: PaymentFilter): number
  /** Oldest first, read in pages. */
  all(filter: PaymentFilter): Generator<Payment>
  /** Payments that wait for their intent. */
  listUndecided(): StoredPayment[]
  /** Payments of which no request was sent to the seller, signed ones included. */
  listUnsent(): StoredPayment[]
  due(nowMs: number): PaymentId[]
  nextAtMs(): number | undefined
  /** Signed payments of unknown outcome, due or not, except those that the seller refused. */
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
  const changeable = ['state', 'paid', 'words', 'nextAtMs', 'record', 'attempts', 'answer'] as const
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
    listUndecided: () => undecided.all().flatMap((row) => parseRow(row) ?? []),
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
    words: [title, url, payTo, transaction ?? ''].join('\n').toLowerCase(),
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
