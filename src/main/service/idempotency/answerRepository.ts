import type { AccountId } from '../../../shared/ids.ts'
import type { Database } from '../../storage/openDatabase.ts'

export type StoredAnswer = { requestHash: Buffer; status: number; body: string }
export type AnswerSlot = { accountId: AccountId; key: string }

export type AnswerRepository = {
  find(slot: AnswerSlot, nowMs: number): StoredAnswer | undefined
  /** @param sandboxId sandbox whose deletion removes the answer */
  store(slot: AnswerSlot, answer: StoredAnswer, given: { expiresAtMs: number; sandboxId: string | undefined }): void
  /** Removes a batch of expired answers, to bound the time of one call. */
  removeExpired(nowMs: number): void
  /** Removes the oldest answers of an account above its budget, and returns free pages to the file system. */
  trim(accountId: AccountId, budget: { maxAnswers: number; maxBytes: number }): void
}

const removedAtOnce = 100
const pagesAtOnce = 1_000

export function answerRepository(database: Database): AnswerRepository {
  const find = database.prepare<[string, string, number], StoredAnswer>(
    `SELECT request_hash AS requestHash, status, body FROM idempotent_answers
     WHERE account_id = ? AND key = ? AND expires_at_ms > ?`,
  )
  const store = database.prepare<[string, string, Buffer, number, string, number, string | null, number]>(
    `INSERT OR REPLACE INTO idempotent_answers
       (account_id, key, request_hash, status, body, expires_at_ms, sandbox_id, bytes)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const removeExpired = database.prepare<[number, number]>(
    `DELETE FROM idempotent_answers WHERE rowid IN
       (SELECT rowid FROM idempotent_answers WHERE expires_at_ms <= ? LIMIT ?)`,
  )
  const trim = database.prepare<{ accountId: string; maxAnswers: number; maxBytes: number }>(
    `DELETE FROM idempotent_answers WHERE rowid IN (
       SELECT id FROM (
         SELECT rowid AS id, row_number() OVER newest AS place, sum(bytes) OVER newest AS total
         FROM idempotent_answers WHERE account_id = :accountId
         WINDOW newest AS (ORDER BY expires_at_ms DESC, rowid DESC ROWS UNBOUNDED PRECEDING)
       ) WHERE place > :maxAnswers OR total > :maxBytes)`,
  )
  return {
    find: ({ accountId, key }, nowMs) => find.get(accountId, key, nowMs),
    store({ accountId, key }, { requestHash, status, body }, { expiresAtMs, sandboxId }) {
      store.run(accountId, key, requestHash, status, body, expiresAtMs, sandboxId ?? null, Buffer.byteLength(body))
    },
    removeExpired(nowMs) {
      removeExpired.run(nowMs, removedAtOnce)
    },
    trim(accountId, budget) {
      trim.run({ accountId, ...budget })
      database.pragma(`incremental_vacuum(${pagesAtOnce})`)
    },
  }
}
