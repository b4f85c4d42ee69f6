import { type AccountId, SandboxId } from '#shared/ids.ts'
import type { Database } from '#storage/sqlite/openDatabase.ts'
import { bytes, defineTable, nullable, number, type Params, type RowOf, type StoredRow, text } from '#storage/table.ts'

const answers = defineTable('idempotent_answers', {
  accountId: text<AccountId>(),
  /** `Idempotency-Key` of the request. */
  key: text(),
  requestHash: bytes(),
  status: number(),
  body: text(),
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

export type AnswerRepository = {
  find(slot: AnswerSlot, nowMs: number): StoredAnswer | undefined
  /** Stores a response, except for a created sandbox that was deleted concurrently. */
  store(slot: AnswerSlot, answer: StoredAnswer, references: AnswerReferences): void
  /** Removes the responses that created a resource without a table in the database. */
  removeCreated(createdId: string): void
  /** Removes a batch of expired responses. Batches bound the time of one call. */
  removeExpired(nowMs: number): void
  /** Removes the oldest responses of an account above its budget, and returns free pages to the file system. */
  trim(accountId: AccountId, budget: { maxAnswers: number; maxBytes: number }): void
}

const removalBatchSize = 100
const vacuumedPages = 1_000

export function createAnswerRepository(database: Database): AnswerRepository {
  const find = database.prepare<[Params<'accountId' | 'key' | 'nowMs'>], StoredRow>(
    `SELECT ${answers.selection()} FROM idempotent_answers
     WHERE account_id = @accountId AND key = @key AND expires_at_ms > @nowMs`,
  )
  const store = database.prepare<[Params<keyof Row>]>(answers.upsert(['accountId', 'key']))
  const hasSandbox = database.prepare<[Params<'id'>]>('SELECT 1 FROM sandboxes WHERE id = @id')
  const removeCreated = database.prepare<[Params<'createdId'>]>(
    'DELETE FROM idempotent_answers WHERE created_id = @createdId',
  )
  const removeExpired = database.prepare<[Params<'nowMs' | 'limit'>]>(
    `DELETE FROM idempotent_answers WHERE rowid IN
       (SELECT rowid FROM idempotent_answers WHERE expires_at_ms <= @nowMs LIMIT @limit)`,
  )
  const trim = database.prepare<[Params<'accountId' | 'maxAnswers' | 'maxBytes'>]>(
    `DELETE FROM idempotent_answers WHERE rowid IN (
       SELECT id FROM (
         SELECT rowid AS id, row_number() OVER newest AS place, sum(bytes) OVER newest AS total
         FROM idempotent_answers WHERE account_id = @accountId
         WINDOW newest AS (ORDER BY expires_at_ms DESC, rowid DESC ROWS UNBOUNDED PRECEDING)
       ) WHERE place > @maxAnswers OR total > @maxBytes)`,
  )
  return {
    find({ accountId, key }, nowMs) {
      const row = find.get({ accountId, key, nowMs })
      return row && answers.fromRow(row)
    },
    store({ accountId, key }, { requestHash, status, body }, { expiresAtMs, sandboxId = null, createdId = null }) {
      if (SandboxId.safeParse(createdId).success && !hasSandbox.get({ id: createdId })) return
      store.run({
        ...{ accountId, key, requestHash, status, body, expiresAtMs, sandboxId, createdId },
        bytes: Buffer.byteLength(body),
      })
    },
    removeCreated: (createdId) => void removeCreated.run({ createdId }),
    removeExpired: (nowMs) => void removeExpired.run({ nowMs, limit: removalBatchSize }),
    trim(accountId, budget) {
      trim.run({ accountId, ...budget })
      database.pragma(`incremental_vacuum(${vacuumedPages})`)
    },
  }
}
