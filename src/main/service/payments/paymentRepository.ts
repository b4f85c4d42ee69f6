import type { AccountId, SandboxId } from '#shared/ids.ts'
import { defineStatement, type Query, type Transaction } from '#storage/store.ts'
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
  listWorkBefore,
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

const unfinished = `(state IN ('verifying', 'settling', 'unknown') OR work IN ('waiting', 'begun'))`
/** Must equal the text of the index, because SQLite compares expressions literally. */
const leases = `resource IS NOT NULL AND (state IN ('verifying', 'settling', 'unknown') OR work IN ('waiting', 'begun'))`

const selection = `SELECT ${payments.selection()} FROM payments`
const findRow = defineStatement<Params<keyof PaymentLock>>(
  `${selection} WHERE network = @network AND asset = @asset AND payer = @payer AND nonce = @nonce`,
).withRows(fromRow)
const getRow = defineStatement<Params<'id'>>(`${selection} WHERE id = @id`).withRows(fromRow)
const findRowByKey = defineStatement<Params<'accountId' | 'key' | 'sinceMs'>>(
  `${selection} WHERE account_id = @accountId AND idempotency_key = @key
     AND state IN (${toSqlList(possiblySettledStates)}) AND coalesce(answer_status, 200) < 400
     AND (work <> 'done' OR created_at_ms > @sinceMs) ORDER BY created_at_ms DESC LIMIT 1`,
).withRows(fromRow)
const insert = defineStatement<Params<keyof Row>>(
  `${payments.insert} ON CONFLICT (resource) WHERE ${leases} DO NOTHING`,
)
const findLease = defineStatement<Params<'resource'>>(
  `SELECT 1 AS one FROM payments WHERE resource = @resource AND ${leases}`,
).withRows(() => true)
const findSandboxLease = defineStatement<Params<'sandboxId'>>(
  `SELECT 1 AS one FROM payments WHERE sandbox_id = @sandboxId
     AND (state IN ('verifying', 'settling') OR work IN ('waiting', 'begun'))`,
).withRows(() => true)
const removeRow = defineStatement<Params<'id'>>(
  `DELETE FROM payments WHERE id = @id AND state IN (${toSqlList(removableStates)})`,
)
const readProgress = defineStatement<Params<'id'>>('SELECT state, work FROM payments WHERE id = @id').withRows(
  (row) => row as { state: SettlementState; work: PaymentWork }, // columns of the table
)
const updateState = defineStatement<Params<'id' | 'state'>>('UPDATE payments SET state = @state WHERE id = @id')
const updateSettled = defineStatement<Params<'id' | 'transaction' | 'work' | 'nextAtMs'>>(
  `UPDATE payments SET state = 'settled', attempts = 0, ${payments.assignments(['transaction', 'work', 'nextAtMs'])}
   WHERE id = @id`,
)
const updateBegun = defineStatement<Params<'id'>>(`UPDATE payments SET work = 'begun' WHERE id = @id`)
const updateFinished = defineStatement<Params<'id' | 'work' | 'answerStatus' | 'answerBody'>>(
  `UPDATE payments SET ${payments.assignments(['work', 'answerStatus', 'answerBody'])} WHERE id = @id`,
)
/** Changes no row unless the transition table allows it. */
export const creditPayment = defineStatement<Params<'id' | 'answerStatus' | 'answerBody'>>(
  `UPDATE payments SET work = 'credited', ${payments.assignments(['answerStatus', 'answerBody'])}
   WHERE id = @id AND state = 'settled' AND work IN (${toSqlList(listWorkBefore('credited'))})`,
)
const updateNextAttempt = defineStatement<Params<'id' | 'nextAtMs'>>(
  'UPDATE payments SET next_at_ms = @nextAtMs, attempts = attempts + 1 WHERE id = @id',
)
const indexed = 'INDEXED BY payments_unfinished'
const deleteUnverified = defineStatement({
  sqlite: `DELETE FROM payments ${indexed} WHERE ${unfinished} AND state = 'verifying'`,
  postgres: `DELETE FROM payments WHERE ${unfinished} AND state = 'verifying'`,
})
const elsewhere = `${unfinished} AND network <> @network AND state IN ('settling', 'unknown')`
const clearResources = defineStatement<Params<'network'>>({
  sqlite: `UPDATE payments ${indexed} SET resource = NULL WHERE ${elsewhere}`,
  postgres: `UPDATE payments SET resource = NULL WHERE ${elsewhere}`,
})
const due = `next_at_ms <= @nowMs AND ${unfinished} ORDER BY next_at_ms LIMIT @limit`
const listDueRows = defineStatement<Params<'nowMs' | 'limit'>>({
  sqlite: `${selection} ${indexed} WHERE ${due}`,
  postgres: `${selection} WHERE ${due}`,
}).withRows(fromRow)
const resume = `SET next_at_ms = 0, attempts = 0 WHERE ${unfinished} AND work <> 'waiting'`
const makeRowsDue = defineStatement({
  sqlite: `UPDATE payments ${indexed} ${resume}`,
  postgres: `UPDATE payments ${resume}`,
})

/** Statements that run on requests or every few seconds. */
export const paymentStatements = {
  ...{ findRow, getRow, findRowByKey, findLease, findSandboxLease, removeRow, readProgress, updateState },
  ...{ updateSettled, updateBegun, updateFinished, creditPayment, updateNextAttempt, listDueRows },
}

/** Methods that change the state or the work throw an error if the transition tables do not allow the change. */
export const paymentRepository = {
  find: (query: Query, { network, asset, payer, nonce }: PaymentLock): Promise<PaymentRow | undefined> =>
    query.first(findRow, { network, asset, payer, nonce }),
  get: (query: Query, id: string): Promise<PaymentRow | undefined> => query.first(getRow, { id }),
  /**
   * Finds the order of a key that may have been paid and did not fail.
   * @param order.sinceMs time of the earliest completed order
   */
  findByKey: (
    query: Query,
    { accountId, key, sinceMs }: Pick<PaymentRow, 'accountId'> & { key: string; sinceMs: number },
  ): Promise<PaymentRow | undefined> => query.first(findRowByKey, { accountId, key, sinceMs }),
  /** @returns false if an unfinished payment leases its resource */
  async add(tx: Transaction, payment: NewPayment): Promise<boolean> {
    const row: Row = {
      ...payment,
      key: payment.key ?? null,
      state: 'verifying',
      work: 'none',
      ...{ transaction: null, answerStatus: null, answerBody: null },
      attempts: 0,
      nextAtMs: payment.createdAtMs,
    }
    return (await tx.run(insert, payments.params(row))) > 0
  },
  /** Whether an unfinished payment leases the resource. */
  isLeased: async (query: Query, resource: string): Promise<boolean> =>
    (await query.first(findLease, { resource })) === true,
  /** Whether a purchase for the sandbox is being settled or delivered. */
  isSandboxLeased: async (query: Query, sandboxId: SandboxId): Promise<boolean> =>
    (await query.first(findSandboxLease, { sandboxId })) === true,
  /** Removes a payment that moved no money. */
  async remove(tx: Transaction, id: string): Promise<void> {
    await tx.run(removeRow, { id })
  },
  async setState(tx: Transaction, id: string, state: Exclude<SettlementState, 'settled'>): Promise<void> {
    await assertChange(tx, id, { state })
    await tx.run(updateState, { id, state })
  },
  async markSettled(
    tx: Transaction,
    id: string,
    changes: { transaction: string; work: 'waiting' | 'begun'; nextAtMs: number },
  ): Promise<void> {
    await assertChange(tx, id, { state: 'settled', work: changes.work })
    await tx.run(updateSettled, { id, ...changes })
  },
  async begin(tx: Transaction, id: string): Promise<void> {
    await assertChange(tx, id, { work: 'begun' })
    await tx.run(updateBegun, { id })
  },
  async finish(tx: Transaction, id: string, answer: PaymentRow['answer']): Promise<void> {
    await assertChange(tx, id, { work: 'done' })
    await tx.run(updateFinished, { id, work: 'done', ...toAnswerParams(answer) })
  },
  async retryAt(tx: Transaction, id: string, nextAtMs: number): Promise<void> {
    await tx.run(updateNextAttempt, { id, nextAtMs })
  },
  /** Removes payments of an earlier process that had not moved any money. */
  async removeUnverified(tx: Transaction): Promise<void> {
    await tx.run(deleteUnverified)
  },
  /**
   * Releases resources of payments with an unknown outcome on other networks: it cannot be determined until the network
   * is changed back. A payment that then turns out to be settled is delivered if possible, and otherwise credited.
   */
  async releaseResources(tx: Transaction, network: string): Promise<void> {
    await tx.run(clearResources, { network })
  },
  /** Lists unfinished payments that are due, in the order in which they became due. */
  listDue: (query: Query, nowMs: number, limit: number): Promise<PaymentRow[]> =>
    query.all(listDueRows, { nowMs, limit }),
  /** Makes every unfinished payment due now. */
  async makeDue(tx: Transaction): Promise<void> {
    await tx.run(makeRowsDue)
  },
}

export function toAnswerParams(answer: PaymentRow['answer']): Params<'answerStatus' | 'answerBody'> {
  return { answerStatus: answer?.status ?? null, answerBody: answer?.body ?? null }
}

async function assertChange(tx: Transaction, id: string, to: Parameters<typeof assertTransition>[2]): Promise<void> {
  assertTransition(id, await tx.first(readProgress, { id }), to)
}

function fromRow(row: StoredRow): PaymentRow {
  const { key, answerStatus: status, answerBody: body, ...payment } = payments.fromRow(row)
  return { ...payment, key: key ?? undefined, answer: status === null || body === null ? undefined : { status, body } }
}

/** Formats states of this code as SQL literals. A condition on literals can use the partial indexes. */
function toSqlList(states: readonly (SettlementState | PaymentWork)[]): string {
  return states.map((state) => `'${state}'`).join(', ')
}
