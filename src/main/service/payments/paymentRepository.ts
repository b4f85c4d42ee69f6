import type { AccountId, SandboxId } from '#shared/ids.ts'
import type { Database } from '#storage/sqlite/openDatabase.ts'
import {
  bytes,
  defineTable,
  json,
  nullable,
  number,
  type Params,
  type RowOf,
  renameColumn,
  type StoredRow,
  text,
} from '#storage/table.ts'
import type { PaymentAuthorization } from './paymentAuthorization.ts'
import {
  assertTransition,
  type PaymentWork,
  possiblySettledStates,
  removableStates,
  type SettlementState,
} from './settlementStates.ts'

const payments = defineTable('payments', {
  network: text(),
  asset: text(),
  payer: text(),
  nonce: text(),
  id: text(),
  operation: text(),
  key: renameColumn('idempotency_key', nullable(text())),
  accountId: text<AccountId>(),
  method: text(),
  path: text(),
  bodyHash: bytes(),
  authorization: json<PaymentAuthorization>(),
  amount: number(),
  /** Purchase of the operation, as JSON. */
  purchase: json<unknown>(),
  /** `name` of the `SoldResource`. Only one unfinished payment at a time can lease it. */
  resource: nullable(text()),
  /** Sandbox that the purchase points to. */
  sandboxId: nullable(text<SandboxId>()),
  state: text<SettlementState>(),
  work: text<PaymentWork>(),
  transaction: renameColumn('transaction_hash', nullable(text())),
  answerStatus: nullable(number()),
  answerBody: nullable(text()),
  attempts: number(),
  nextAtMs: number(),
  createdAtMs: number(),
})
type Row = RowOf<typeof payments>

/** Unique key of a payment. One authorization pays for one purchase. */
export type PaymentLock = Pick<Row, 'network' | 'asset' | 'payer' | 'nonce'>

export type PaymentRow = Omit<Row, 'key' | 'answerStatus' | 'answerBody'> & {
  /** `Idempotency-Key` of the request, if any. */
  key: string | undefined
  answer: { status: number; body: string } | undefined
}

export type NewPayment = Omit<PaymentRow, 'state' | 'work' | 'transaction' | 'answer' | 'attempts' | 'nextAtMs'>

/**
 * Callers run each method in their transaction. Methods that change the state or the work throw an error if the
 * transition tables do not allow the change.
 */
export type PaymentRepository = {
  find(lock: PaymentLock): PaymentRow | undefined
  get(id: string): PaymentRow | undefined
  /**
   * Finds the order of a key that may have been paid and did not fail.
   * @param sinceMs time of the earliest completed order
   */
  findByKey(order: Pick<PaymentRow, 'accountId'> & { key: string; sinceMs: number }): PaymentRow | undefined
  /** @returns false if an unfinished payment leases its resource */
  add(payment: NewPayment): boolean
  /** Whether an unfinished payment leases the resource. */
  isLeased(resource: string): boolean
  /** Whether a purchase for the sandbox is being settled or delivered. */
  isSandboxLeased(id: SandboxId): boolean
  /** Removes a payment that moved no money. */
  remove(id: string): void
  setState(id: string, state: Exclude<SettlementState, 'settled'>): void
  markSettled(id: string, changes: { transaction: string; work: 'waiting' | 'begun'; nextAtMs: number }): void
  begin(id: string): void
  finish(id: string, outcome: { work: 'done' | 'credited'; answer: PaymentRow['answer'] }): void
  retryAt(id: string, atMs: number): void
  /** Removes payments of an earlier process that had not moved any money. */
  removeUnverified(): void
  /**
   * Releases resources of payments with an unknown outcome on other networks: it cannot be determined until the network
   * is changed back. A payment that then turns out to be settled is delivered if possible, and otherwise credited.
   */
  releaseResources(network: string): void
  /** Lists unfinished payments that are due, in the order in which they became due. */
  due(nowMs: number, max: number): PaymentRow[]
  /** Makes every unfinished payment due now. */
  makeDue(): void
}

const unfinished = `(state IN ('verifying', 'settling', 'unknown') OR work IN ('waiting', 'begun'))`
/** Must equal the text of the index, because SQLite compares expressions literally. */
const leases = `resource IS NOT NULL AND (state IN ('verifying', 'settling', 'unknown') OR work IN ('waiting', 'begun'))`

export function createPaymentRepository(database: Database): PaymentRepository {
  const columns = payments.selection()
  const find = database.prepare<[Params<keyof PaymentLock>], StoredRow>(
    `SELECT ${columns} FROM payments WHERE network = @network AND asset = @asset AND payer = @payer AND nonce = @nonce`,
  )
  const get = database.prepare<[Params<'id'>], StoredRow>(`SELECT ${columns} FROM payments WHERE id = @id`)
  const findByKey = database.prepare<[Params<'accountId' | 'key' | 'sinceMs'>], StoredRow>(
    `SELECT ${columns} FROM payments WHERE account_id = @accountId AND idempotency_key = @key
       AND state IN (${toSqlList(possiblySettledStates)}) AND coalesce(answer_status, 200) < 400
       AND (work <> 'done' OR created_at_ms > @sinceMs) ORDER BY created_at_ms DESC LIMIT 1`,
  )
  const add = database.prepare<[Params<keyof Row>]>(
    `${payments.insert} ON CONFLICT (resource) WHERE ${leases} DO NOTHING`,
  )
  const isLeased = database.prepare<[Params<'resource'>]>(
    `SELECT 1 FROM payments WHERE resource = @resource AND ${leases}`,
  )
  const isSandboxLeased = database.prepare<[Params<'sandboxId'>]>(
    `SELECT 1 FROM payments WHERE sandbox_id = @sandboxId
       AND (state IN ('verifying', 'settling') OR work IN ('waiting', 'begun'))`,
  )
  const remove = database.prepare<[Params<'id'>]>(
    `DELETE FROM payments WHERE id = @id AND state IN (${toSqlList(removableStates)})`,
  )
  const progress = database.prepare<[Params<'id'>], { state: SettlementState; work: PaymentWork }>(
    'SELECT state, work FROM payments WHERE id = @id',
  )
  const assertChange = (id: string, to: Parameters<typeof assertTransition>[2]): void =>
    assertTransition(id, progress.get({ id }), to)
  const setState = database.prepare<[Params<'id' | 'state'>]>('UPDATE payments SET state = @state WHERE id = @id')
  const settled = database.prepare<[Params<'id' | 'transaction' | 'work' | 'nextAtMs'>]>(
    `UPDATE payments SET state = 'settled', attempts = 0, ${payments.assignments(['transaction', 'work', 'nextAtMs'])}
     WHERE id = @id`,
  )
  const begin = database.prepare<[Params<'id'>]>(`UPDATE payments SET work = 'begun' WHERE id = @id`)
  const finish = database.prepare<[Params<'id' | 'work' | 'answerStatus' | 'answerBody'>]>(
    `UPDATE payments SET ${payments.assignments(['work', 'answerStatus', 'answerBody'])} WHERE id = @id`,
  )
  const retryAt = database.prepare<[Params<'id' | 'nextAtMs'>]>(
    'UPDATE payments SET next_at_ms = @nextAtMs, attempts = attempts + 1 WHERE id = @id',
  )
  const removeUnverified = database.prepare<[]>(
    `DELETE FROM payments INDEXED BY payments_unfinished WHERE ${unfinished} AND state = 'verifying'`,
  )
  const releaseResources = database.prepare<[Params<'network'>]>(
    `UPDATE payments INDEXED BY payments_unfinished SET resource = NULL
     WHERE ${unfinished} AND network <> @network AND state IN ('settling', 'unknown')`,
  )
  const due = database.prepare<[Params<'nowMs' | 'limit'>], StoredRow>(
    `SELECT ${columns} FROM payments INDEXED BY payments_unfinished
     WHERE next_at_ms <= @nowMs AND ${unfinished} ORDER BY next_at_ms LIMIT @limit`,
  )
  const makeDue = database.prepare<[]>(
    `UPDATE payments INDEXED BY payments_unfinished SET next_at_ms = 0, attempts = 0
     WHERE ${unfinished} AND work <> 'waiting'`,
  )
  const fromOptionalRow = (row: StoredRow | undefined) => row && fromRow(row)

  return {
    find: ({ network, asset, payer, nonce }) => fromOptionalRow(find.get({ network, asset, payer, nonce })),
    get: (id) => fromOptionalRow(get.get({ id })),
    findByKey: ({ accountId, key, sinceMs }) => fromOptionalRow(findByKey.get({ accountId, key, sinceMs })),
    add(payment) {
      const row: Row = {
        ...payment,
        key: payment.key ?? null,
        state: 'verifying',
        work: 'none',
        ...{ transaction: null, answerStatus: null, answerBody: null },
        attempts: 0,
        nextAtMs: payment.createdAtMs,
      }
      return add.run(payments.params(row)).changes > 0
    },
    isLeased: (resource) => isLeased.get({ resource }) !== undefined,
    isSandboxLeased: (sandboxId) => isSandboxLeased.get({ sandboxId }) !== undefined,
    remove: (id) => void remove.run({ id }),
    setState(id, state) {
      assertChange(id, { state })
      setState.run({ id, state })
    },
    markSettled(id, { transaction, work, nextAtMs }) {
      assertChange(id, { state: 'settled', work })
      settled.run({ id, transaction, work, nextAtMs })
    },
    begin(id) {
      assertChange(id, { work: 'begun' })
      begin.run({ id })
    },
    finish(id, { work, answer }) {
      assertChange(id, { work })
      finish.run({ id, work, answerStatus: answer?.status ?? null, answerBody: answer?.body ?? null })
    },
    retryAt: (id, nextAtMs) => void retryAt.run({ id, nextAtMs }),
    removeUnverified: () => void removeUnverified.run(),
    releaseResources: (network) => void releaseResources.run({ network }),
    due: (nowMs, limit) => due.all({ nowMs, limit }).map(fromRow),
    makeDue: () => void makeDue.run(),
  }
}

function fromRow(row: StoredRow): PaymentRow {
  const { key, answerStatus: status, answerBody: body, ...payment } = payments.fromRow(row)
  return { ...payment, key: key ?? undefined, answer: status === null || body === null ? undefined : { status, body } }
}

/** Formats states of this code as SQL literals. A condition on literals can use the partial indexes. */
function toSqlList(states: readonly SettlementState[]): string {
  return states.map((state) => `'${state}'`).join(', ')
}
