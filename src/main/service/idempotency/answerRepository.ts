import { type AccountId, SandboxId } from '#shared/ids.ts'
import { defineStatement, type Query, type Transaction } from '#storage/store.ts'
import { anyText, bytes, defineTable, nullable, number, type Params, type RowOf, text } from '#storage/table.ts'

const answers = defineTable('idempotent_answers', {
  accountId: text<AccountId>(),
  /** `Idempotency-Key` of the request. */
  key: text(),
  requestHash: bytes(),
  status: number(),
  body: anyText(),
  expiresAtMs: number(),
  /** Sandbox in the path. Deleting it removes the response. */
  sandboxId: nullable(text()),
  /** Size of the body in UTF-8. */
  bytes: number(),
  /** Sandbox, snapshot, upload or terminal that the request created. Deleting it removes the response. */
  createdId: nullable(text()),
})
type Row = RowOf<typeof answers>
export type StoredAnswer = Pick<Row, 'requestHash' | 'status' | 'body'>
export type AnswerReferences = {
  expiresAtMs: number
  sandboxId: string | undefined
  createdId: string | undefined
}
export type AnswerSlot = Pick<Row, 'accountId' | 'key'>

const removalBatchSize = 100

const expired = (lock: string) =>
  `DELETE FROM idempotent_answers WHERE (account_id, key) IN (
     SELECT account_id, key FROM idempotent_answers WHERE expires_at_ms <= @nowMs
     ORDER BY expires_at_ms LIMIT @limit ${lock})`

/** @param names `id`: columns that identify a row; `tie`: column that orders responses of the same time */
const excess = ({ id, tie }: { id: string; tie: string }) =>
  `DELETE FROM idempotent_answers WHERE (${id}) IN (
     SELECT ${id} FROM (
       SELECT ${id}, row_number() OVER newest AS place, sum(bytes) OVER newest AS total
       FROM idempotent_answers WHERE account_id = @accountId
       WINDOW newest AS (ORDER BY expires_at_ms DESC, ${tie} DESC ROWS UNBOUNDED PRECEDING)
     ) AS ordered WHERE place > @maxAnswers OR total > @maxBytes)`

/** Exported for the test of query plans. */
export const answerStatements = {
  find: defineStatement<Params<'accountId' | 'key' | 'nowMs'>>(
    `SELECT ${answers.selection()} FROM idempotent_answers
     WHERE account_id = @accountId AND key = @key AND expires_at_ms > @nowMs`,
  ).withRows(answers.fromRow),
  store: defineStatement<Params<keyof Row>>(answers.upsert(['accountId', 'key'])),
  findSandbox: defineStatement<Params<'id'>>('SELECT id FROM sandboxes WHERE id = @id').withRows(({ id }) => id),
  removeCreated: defineStatement<Params<'createdId'>>('DELETE FROM idempotent_answers WHERE created_id = @createdId'),
  /** Requests of several processes remove different rows. */
  removeExpired: defineStatement<Params<'nowMs' | 'limit'>>({
    sqlite: expired(''),
    postgres: expired('FOR UPDATE SKIP LOCKED'),
  }),
  /** By `rowid`, the index of SQLite has all that the statement reads. */
  trim: defineStatement<Params<'accountId' | 'maxAnswers' | 'maxBytes'>>({
    sqlite: excess({ id: 'rowid', tie: 'rowid' }),
    postgres: excess({ id: 'account_id, key', tie: 'key' }),
  }),
}

export const answerRepository = {
  find(query: Query, { accountId, key }: AnswerSlot, nowMs: number): Promise<StoredAnswer | undefined> {
    return query.first(answerStatements.find, { accountId, key, nowMs })
  },
  /** Stores a response, except for a created sandbox that was deleted concurrently. */
  async store(
    tx: Transaction,
    { accountId, key }: AnswerSlot,
    { requestHash, status, body }: StoredAnswer,
    references: AnswerReferences,
  ): Promise<void> {
    const { expiresAtMs, sandboxId = null, createdId = null } = references
    const sandbox = SandboxId.safeParse(createdId)
    if (sandbox.success && (await tx.first(answerStatements.findSandbox, { id: sandbox.data })) === undefined) return
    const row = { accountId, key, requestHash, status, body, expiresAtMs, sandboxId, createdId }
    await tx.run(answerStatements.store, answers.params({ ...row, bytes: Buffer.byteLength(body) }))
  },
  /** Removes the responses that created a resource without a table in the database. */
  async removeCreated(tx: Transaction, createdId: string): Promise<void> {
    await tx.run(answerStatements.removeCreated, { createdId })
  },
  /** Removes a batch of expired responses. Batches bound the time of one call. */
  async removeExpired(tx: Transaction, nowMs: number): Promise<void> {
    await tx.run(answerStatements.removeExpired, { nowMs, limit: removalBatchSize })
  },
  /** Removes the oldest responses of an account above its budget. */
  async trim(tx: Transaction, accountId: AccountId, budget: { maxAnswers: number; maxBytes: number }): Promise<void> {
    await tx.run(answerStatements.trim, { accountId, ...budget })
  },
}
