import type { AccountId } from '../../../shared/ids.ts'
import type { Database } from '../../storage/openDatabase.ts'

export type StoredAnswer = { requestHash: Buffer; status: number; body: string }
export type AnswerSlot = { accountId: AccountId; key: string }

export type AnswerRepository = {
  find(slot: AnswerSlot, nowMs: number): StoredAnswer | undefined
  store(slot: AnswerSlot, answer: StoredAnswer, expiresAtMs: number): void
  /** Takes some of the expired ones away, so that no single call pays for all. */
  removeExpired(nowMs: number): void
}

const removedAtOnce = 100

export function answerRepository(database: Database): AnswerRepository {
  const find = database.prepare<[string, string, number], StoredAnswer>(
    `SELECT request_hash AS requestHash, status, body FROM idempotent_answers
     WHERE account_id = ? AND key = ? AND expires_at_ms > ?`,
  )
  const store = database.prepare<[string, string, Buffer, number, string, number]>(
    `INSERT OR REPLACE INTO idempotent_answers (account_id, key, request_hash, status, body, expires_at_ms)
     VALUES (?, ?, ?, ?, ?, ?)`,
  )
  const removeExpired = database.prepare<[number, number]>(
    `DELETE FROM idempotent_answers WHERE rowid IN
       (SELECT rowid FROM idempotent_answers WHERE expires_at_ms <= ? LIMIT ?)`,
  )
  return {
    find: ({ accountId, key }, nowMs) => find.get(accountId, key, nowMs),
    store({ accountId, key }, { requestHash, status, body }, expiresAtMs) {
      store.run(accountId, key, requestHash, status, body, expiresAtMs)
    },
    removeExpired(nowMs) {
      removeExpired.run(nowMs, removedAtOnce)
    },
  }
}
