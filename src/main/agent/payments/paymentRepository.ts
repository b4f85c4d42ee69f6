import { z } from 'zod'
import {
  PaidAnswer,
  Payment,
  type PaymentId,
  PaymentReceipt,
  type PaymentState,
} from '../../../shared/contract/paymentRecords.ts'
import type { Database } from '../../storage/openDatabase.ts'

export const KeptRequest = z.object({
  via: z.enum(['public', 'service']),
  /** Which service: it is asked again there alone. */
  service: z.string(),
  method: z.string(),
  /** Of `service`: path and query. */
  url: z.string(),
  headers: z.record(z.string(), z.string()),
  body: z.string().optional(),
  /** It has all headers: without credentials that were left out it cannot be sent again. */
  complete: z.boolean(),
  /** The seller's declaration of the extension `payment-identifier`. */
  identifier: z.record(z.string(), z.unknown()).optional(),
})
export type KeptRequest = z.infer<typeof KeptRequest>

const Record = PaymentReceipt.omit({ answer: true })
export type PaymentRecord = z.infer<typeof Record>
const Payload = z.object({ header: z.string(), value: z.string() })

export type StoredPayment = {
  record: PaymentRecord
  request: KeptRequest
  /** As the seller sent it. */
  raw: { [name: string]: unknown }
  payload: z.infer<typeof Payload> | null
  /** How often it was sent. */
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
  asker?: string | undefined
  before?: PaymentId | undefined
}

/** A row that cannot be understood is shown to nobody and never sent. */
export type PaymentRepository = {
  add(payment: StoredPayment): void
  /** @returns whether it was still in that state */
  change(payment: StoredPayment, from: PaymentState): boolean
  find(id: string): StoredPayment | undefined
  ofIntent(intentId: string): StoredPayment | undefined
  /** Newest first. */
  list(filter: PaymentFilter, limit: number): Payment[]
  count(filter: PaymentFilter): number
  /** Oldest first, in pieces. */
  all(filter: PaymentFilter): Generator<Payment>
  /** They wait for their intent. */
  undecided(): StoredPayment[]
  due(nowMs: number): PaymentId[]
  nextAtMs(): number | undefined
  /** Signed, and of unknown outcome, whenever they are due; without those that the seller refused. */
  unended(): PaymentId[]
  atomically<T>(work: () => T): T
}

type Row = {
  record: string
  request: string
  payload: string | null
  attempts: number
  next: number | null
  answer: string | null
}

export function askerKey({ kind, id }: { kind: string; id: string }): string {
  return `${kind} ${id}`
}

export function paymentRepository(database: Database): PaymentRepository {
  const columns = 'record, request, payload, attempts, next_at_ms AS next, answer'
  const add = database.prepare(
    `INSERT INTO payments VALUES (@id, @intentId, @state, @paid, @asker, @host, @words, @createdAtMs, @next, @record,
       @request, @payload, @attempts, @answer)`,
  )
  const change = database.prepare(
    `UPDATE payments SET state = @state, paid = @paid, words = @words, next_at_ms = @next, record = @record,
       payload = coalesce(payload, @payload), attempts = @attempts, answer = @answer WHERE id = @id AND state = @from`,
  )
  const find = database.prepare<[string], Row>(`SELECT ${columns} FROM payments WHERE id = ?`)
  const ofIntent = database.prepare<[string], Row>(`SELECT ${columns} FROM payments WHERE intent_id = ?`)
  const where = `(@state IS NULL OR state = @state) AND (@host IS NULL OR host = @host)
    AND (@asker IS NULL OR asker = @asker) AND (@fromMs IS NULL OR created_at_ms >= @fromMs)
    AND (@toMs IS NULL OR created_at_ms < @toMs) AND (@search IS NULL OR instr(words, @search) > 0)`
  const list = database.prepare<[object], Row>(
    `SELECT record FROM payments WHERE ${where} AND (@before IS NULL OR (created_at_ms, id) <
       (SELECT created_at_ms, id FROM payments WHERE id = @before))
     ORDER BY created_at_ms DESC, id DESC LIMIT @limit`,
  )
  const count = database.prepare<[object], { count: number }>(`SELECT count(*) AS count FROM payments WHERE ${where}`)
  const onwards = database.prepare<[object], { record: string; at: number; id: string }>(
    `SELECT record, created_at_ms AS at, id FROM payments WHERE ${where} AND (created_at_ms, id) > (@atMs, @afterId)
     ORDER BY created_at_ms, id LIMIT 200`,
  )
  const undecided = database.prepare<[], Row>(
    `SELECT ${columns} FROM payments WHERE state IN ('planned', 'waiting') ORDER BY created_at_ms`,
  )
  const due = database.prepare<[number], { id: PaymentId }>(
    'SELECT id FROM payments WHERE next_at_ms <= ? ORDER BY next_at_ms LIMIT 20',
  )
  const unended = database.prepare<[], { id: PaymentId }>(
    `SELECT id FROM payments WHERE state IN ('signed', 'sent', 'unknown') ORDER BY created_at_ms LIMIT 200`,
  )
  const next = database.prepare<[], { at: number | null }>('SELECT min(next_at_ms) AS at FROM payments')

  return {
    add: (payment) => void add.run(rowOf(payment)),
    change: (payment, from) => change.run({ ...rowOf(payment), from }).changes > 0,
    find: (id) => [find.get(id)].flatMap(understood)[0],
    ofIntent: (id) => [ofIntent.get(id)].flatMap(understood)[0],
    list: (filter, limit) =>
      list.all({ ...given(filter), before: filter.before ?? null, limit }).flatMap(({ record }) => summary(record)),
    count: (filter) => count.get(given(filter))?.count ?? 0,
    *all(filter) {
      let [atMs, afterId] = [-1, '']
      for (;;) {
        const rows = onwards.all({ ...given(filter), atMs, afterId })
        for (const { record } of rows) yield* summary(record)
        const last = rows.at(-1)
        if (!last) return
        ;[atMs, afterId] = [last.at, last.id]
      }
    },
    undecided: () => undecided.all().flatMap(understood),
    due: (nowMs) => due.all(nowMs).map(({ id }) => id),
    unended: () => unended.all().map(({ id }) => id),
    nextAtMs: () => next.get()?.at ?? undefined,
    atomically: (work) => (database.inTransaction ? work() : database.transaction(work).immediate()),
  }
}

function rowOf({ record, request, raw, payload, attempts, nextAtMs, answer }: StoredPayment) {
  const { id, intent_id: intentId, state, paid, asker, host, title, url, pay_to: payTo, transaction } = record
  return {
    ...{ id, intentId, state, host, attempts },
    paid: paid === null ? null : paid ? 1 : 0,
    asker: askerKey(asker),
    words: [title, url, payTo, transaction ?? ''].join('\n').toLowerCase(),
    createdAtMs: Date.parse(record.created_at),
    next: nextAtMs,
    record: JSON.stringify(record),
    request: JSON.stringify({ ...request, raw }),
    payload: payload && JSON.stringify(payload),
    answer: answer && JSON.stringify(answer),
  }
}

function given({ state, host, asker, from, to, search }: PaymentFilter) {
  return {
    state: state ?? null,
    host: host ?? null,
    asker: asker ?? null,
    fromMs: from === undefined ? null : Date.parse(from),
    toMs: to === undefined ? null : Date.parse(to),
    search: search === undefined || search === '' ? null : search.toLowerCase(),
  }
}

const Asked = KeptRequest.extend({ raw: z.record(z.string(), z.unknown()) })

function understood(row: Row | undefined): StoredPayment[] {
  if (!row) return []
  try {
    const { raw, ...request } = Asked.parse(JSON.parse(row.request))
    return [
      {
        record: Record.parse(JSON.parse(row.record)),
        ...{ request, raw, attempts: row.attempts, nextAtMs: row.next },
        payload: row.payload === null ? null : Payload.parse(JSON.parse(row.payload)),
        answer: row.answer === null ? null : PaidAnswer.parse(JSON.parse(row.answer)),
      },
    ]
  } catch {
    return []
  }
}

function summary(record: string): Payment[] {
  try {
    return [Payment.parse(JSON.parse(record))]
  } catch {
    return []
  }
}
