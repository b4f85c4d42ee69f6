import { AccountId } from '../../../shared/ids.ts'
import type { Database } from '../../storage/openDatabase.ts'
import type { PaymentAuthorization } from './paymentAuthorization.ts'

export type PaymentState = 'verifying' | 'settling' | 'settled' | 'failed' | 'unknown'
/** Of a settled payment. `waiting`: the request that paid has gone, and may come again. */
export type PaymentWork = 'none' | 'waiting' | 'begun' | 'done' | 'credited'

/** One row is all that is ever sold for one authorization. */
export type PaymentLock = { network: string; asset: string; payer: string; nonce: string }

export type PaymentRow = PaymentLock & {
  id: string
  operation: string
  /** `Idempotency-Key` of the request, if any. */
  key: string | undefined
  accountId: AccountId
  method: string
  path: string
  bodyHash: Buffer
  authorization: PaymentAuthorization
  amount: number
  /** Of the operation; it can be written as JSON. */
  purchase: unknown
  /** `name` of the `SoldResource`: one unfinished payment at a time has it. */
  resource: string | null
  state: PaymentState
  work: PaymentWork
  transaction: string | null
  answer: { status: number; body: string } | undefined
  attempts: number
  nextAtMs: number
  createdAtMs: number
}

export type NewPayment = Omit<PaymentRow, 'state' | 'work' | 'transaction' | 'answer' | 'attempts' | 'nextAtMs'>

/** Each call is meant for a transaction of the caller. */
export type PaymentRepository = {
  find(lock: PaymentLock): PaymentRow | undefined
  get(id: string): PaymentRow | undefined
  /** Finds the order of a key that may have been paid and did not fail. @param sinceMs earliest completed order */
  findByKey(order: Pick<PaymentRow, 'accountId'> & { key: string; sinceMs: number }): PaymentRow | undefined
  /** @returns false if an unfinished payment leases its resource */
  add(payment: NewPayment): boolean
  /** Whether an unfinished payment leases the resource. */
  isLeased(resource: string): boolean
  /** Only one that moved nothing. */
  remove(id: string): void
  setState(id: string, state: Exclude<PaymentState, 'settled'>): void
  settled(id: string, given: { transaction: string; work: 'waiting' | 'begun'; nextAtMs: number }): void
  begin(id: string): void
  finish(id: string, given: { work: 'done' | 'credited'; answer: { status: number; body: string } | undefined }): void
  retryAt(id: string, atMs: number): void
  /** Those that a process left behind before anything moved. */
  removeUnverified(): void
  /** What has to be looked after by now, the longest due first. */
  due(nowMs: number, most: number): PaymentRow[]
  /** Of every one that is not finished: due at once. */
  makeDue(): void
}

type Stored = Omit<PaymentRow, 'key' | 'accountId' | 'authorization' | 'purchase' | 'answer'> & {
  key: string | null
  accountId: string
  authorization: string
  purchase: string
  answerStatus: number | null
  answerBody: string | null
}
const columns = `id, network, asset, payer, nonce, operation, idempotency_key AS key, account_id AS accountId, method, path,
  body_hash AS bodyHash, authorization, amount, purchase, resource, state, work, transaction_hash AS "transaction",
  answer_status AS answerStatus, answer_body AS answerBody, attempts, next_at_ms AS nextAtMs,
  created_at_ms AS createdAtMs`
const unfinished = `(state IN ('verifying', 'settling', 'unknown') OR work IN ('waiting', 'begun'))`
/** As the index has it, which SQLite compares word by word. */
const leases = `resource IS NOT NULL AND (state IN ('verifying', 'settling', 'unknown') OR work IN ('waiting', 'begun'))`

export function paymentRepository(database: Database): PaymentRepository {
  const find = database.prepare<[string, string, string, string], Stored>(
    `SELECT ${columns} FROM payments WHERE network = ? AND asset = ? AND payer = ? AND nonce = ?`,
  )
  const get = database.prepare<[string], Stored>(`SELECT ${columns} FROM payments WHERE id = ?`)
  const findByKey = database.prepare<[string, string, number], Stored>(
    `SELECT ${columns} FROM payments WHERE account_id = ? AND idempotency_key = ?
       AND state IN ('settling', 'unknown', 'settled') AND coalesce(answer_status, 200) < 400
       AND (work <> 'done' OR created_at_ms > ?) ORDER BY created_at_ms DESC LIMIT 1`,
  )
  const add = database.prepare<unknown[]>(
    `INSERT INTO payments (id, network, asset, payer, nonce, operation, idempotency_key, account_id, method, path, body_hash,
       authorization, amount, purchase, resource, state, next_at_ms, created_at_ms)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'verifying', ?, ?)
     ON CONFLICT (resource) WHERE ${leases} DO NOTHING`,
  )
  const isLeased = database.prepare<[string]>(`SELECT 1 FROM payments WHERE resource = ? AND ${leases}`)
  const remove = database.prepare<[string]>(`DELETE FROM payments WHERE id = ? AND state IN ('verifying', 'failed')`)
  const setState = database.prepare<[PaymentState, string]>('UPDATE payments SET state = ? WHERE id = ?')
  const settled = database.prepare<[string, PaymentWork, number, string]>(
    `UPDATE payments SET state = 'settled', transaction_hash = ?, work = ?, next_at_ms = ?, attempts = 0 WHERE id = ?`,
  )
  const begin = database.prepare<[string]>(`UPDATE payments SET work = 'begun' WHERE id = ? AND work = 'waiting'`)
  const finish = database.prepare<[PaymentWork, number | null, string | null, string]>(
    'UPDATE payments SET work = ?, answer_status = ?, answer_body = ? WHERE id = ?',
  )
  const retryAt = database.prepare<[number, string]>(
    'UPDATE payments SET next_at_ms = ?, attempts = attempts + 1 WHERE id = ?',
  )
  const removeUnverified = database.prepare<[]>(
    `DELETE FROM payments INDEXED BY payments_unfinished WHERE ${unfinished} AND state = 'verifying'`,
  )
  const due = database.prepare<[number, number], Stored>(
    `SELECT ${columns} FROM payments INDEXED BY payments_unfinished WHERE next_at_ms <= ? AND ${unfinished} ORDER BY next_at_ms LIMIT ?`,
  )
  const makeDue = database.prepare<
    []
  >(`UPDATE payments INDEXED BY payments_unfinished SET next_at_ms = 0, attempts = 0 WHERE ${unfinished}
    AND work <> 'waiting'`)

  return {
    find({ network, asset, payer, nonce }) {
      const row = find.get(network, asset, payer, nonce)
      return row && rowOf(row)
    },
    get(id) {
      const row = get.get(id)
      return row && rowOf(row)
    },
    findByKey({ accountId, key, sinceMs }) {
      const row = findByKey.get(accountId, key, sinceMs)
      return row && rowOf(row)
    },
    add(payment) {
      const {
        id,
        network,
        asset,
        payer,
        nonce,
        operation,
        key = null,
        accountId,
        method,
        path,
        bodyHash,
        createdAtMs,
      } = payment
      const added = add.run(
        ...[id, network, asset, payer, nonce, operation, key, accountId, method, path, bodyHash],
        ...[JSON.stringify(payment.authorization), payment.amount, JSON.stringify(payment.purchase)],
        ...[payment.resource, createdAtMs, createdAtMs],
      )
      return added.changes > 0
    },
    isLeased: (resource) => isLeased.get(resource) !== undefined,
    remove(id) {
      remove.run(id)
    },
    setState(id, state) {
      setState.run(state, id)
    },
    settled(id, { transaction, work, nextAtMs }) {
      settled.run(transaction, work, nextAtMs, id)
    },
    begin(id) {
      begin.run(id)
    },
    finish(id, { work, answer }) {
      finish.run(work, answer?.status ?? null, answer?.body ?? null, id)
    },
    retryAt(id, atMs) {
      retryAt.run(atMs, id)
    },
    removeUnverified() {
      removeUnverified.run()
    },
    due: (nowMs, most) => due.all(nowMs, most).map(rowOf),
    makeDue() {
      makeDue.run()
    },
  }
}

function rowOf({ answerStatus, answerBody, ...row }: Stored): PaymentRow {
  return {
    ...row,
    key: row.key ?? undefined,
    accountId: AccountId.parse(row.accountId),
    authorization: JSON.parse(row.authorization) as PaymentAuthorization, // written above
    purchase: JSON.parse(row.purchase),
    answer: answerStatus === null || answerBody === null ? undefined : { status: answerStatus, body: answerBody },
  }
}
