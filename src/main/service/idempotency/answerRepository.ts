import { type AccountId, SandboxId } from '../../../shared/ids.ts'
import type { Database } from '../../storage/openDatabase.ts'

export type StoredAnswer = { requestHash: Buffer; status: number; body: string }
export type AnswerReferences = {
  expiresAtMs: number
  sandboxId: string | undefined
  createdId: string | undefined
}
export type AnswerSlot = { accountId: AccountId; key: string }

export type AnswerRepository = {
  find(slot: AnswerSlot, nowMs: number): StoredAnswer | undefined
  /**
   * Stores nothing for a created sandbox that was deleted meanwhile.
   * @param given.sandboxId sandbox of the path, whose deletion removes the answer
   * @param given.createdId thing that the request created, whose deletion removes the answer
   */
  store(slot: AnswerSlot, answer: StoredAnswer, given: AnswerReferences): void
  /** Removes answers that created a thing which no table of the database has. */
  removeCreated(createdId: string): void
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
  const store = database.prepare<
    [string, string, Buffer, number, string, number, string | null, number, string | null]
  >(
    `INSERT OR REPLACE INTO idempotent_answers
       (account_id, key, request_hash, status, body, expires_at_ms, sandbox_id, bytes, created_id)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const hasSandbox = database.prepare<[string], { found: 1 }>('SELECT 1 AS found FROM sandboxes WHERE id = ?')
  const removeCreated = database.prepare<[string]>('DELETE FROM idempotent_answers WHERE created_id = ?')
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
    store({ accountId, key }, { requestHash, status, body }, { expiresAtMs, sandboxId, createdId }) {
      if (createdId !== undefined && SandboxId.safeParse(createdId).success && !hasSandbox.get(createdId)) return
      const bytes = Buffer.byteLength(body)
      const references = [sandboxId ?? null, bytes, createdId ?? null] as const
      store.run(accountId, key, requestHash, status, body, expiresAtMs, ...references)
    },
    removeCreated: (createdId) => void removeCreated.run(createdId),
    removeExpired(nowMs) {
      removeExpired.run(nowMs, removedAtOnce)
    },
    trim(accountId, budget) {
      trim.run({ accountId, ...budget })
      database.pragma(`incremental_vacuum(${pagesAtOnce})`)
    },
  }
}
