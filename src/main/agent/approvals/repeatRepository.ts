import type { KeySlot } from '../../platform/oncePerKey.ts'
import type { Database } from '../../storage/openDatabase.ts'

/** Which intent was made for which `Idempotency-Key` of whom. */
export type RepeatRepository = {
  find(slot: Pick<KeySlot, 'holder' | 'key'>, nowMs: number): { requestHash: Buffer; answer: string } | undefined
  add(slot: KeySlot, intentId: string, times: { nowMs: number; expiresAtMs: number }): void
}

const removedAtOnce = 100

export function repeatRepository(database: Database): RepeatRepository {
  const find = database.prepare<[string, string, number], { requestHash: Buffer; answer: string }>(
    `SELECT request_hash AS requestHash, intent_id AS answer FROM asked_once
     WHERE asker = ? AND key = ? AND expires_at_ms > ?`,
  )
  const removeExpired = database.prepare<[number, number]>(
    `DELETE FROM asked_once WHERE rowid IN (SELECT rowid FROM asked_once WHERE expires_at_ms <= ? LIMIT ?)`,
  )
  const add = database.prepare<[string, string, Buffer, string, number]>(
    'INSERT OR REPLACE INTO asked_once (asker, key, request_hash, intent_id, expires_at_ms) VALUES (?, ?, ?, ?, ?)',
  )
  return {
    find: ({ holder, key }, nowMs) => find.get(holder, key, nowMs),
    add({ holder, key, requestHash }, intentId, { nowMs, expiresAtMs }) {
      removeExpired.run(nowMs, removedAtOnce)
      add.run(holder, key, requestHash, intentId, expiresAtMs)
    },
  }
}
