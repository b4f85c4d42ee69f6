import type { KeySlot } from '#platform/http/oncePerKey.ts'
import type { Database } from '#storage/sqlite/openDatabase.ts'
import type { Params } from '#storage/table.ts'

/** Intents by the `Idempotency-Key` of the request that created them. */
export type IdempotencyKeyRepository = {
  find(slot: Pick<KeySlot, 'holder' | 'key'>, nowMs: number): { requestHash: Buffer; answer: string } | undefined
  add(slot: KeySlot, intentId: string, times: { nowMs: number; expiresAtMs: number }): void
}

const removalBatchSize = 100

export function createIdempotencyKeyRepository(database: Database): IdempotencyKeyRepository {
  const find = database.prepare<[Params<'holder' | 'key' | 'nowMs'>], { requestHash: Buffer; answer: string }>(
    `SELECT request_hash AS "requestHash", intent_id AS answer FROM asked_once
     WHERE requester = @holder AND key = @key AND expires_at_ms > @nowMs`,
  )
  const removeExpired = database.prepare<[Params<'nowMs' | 'limit'>]>(
    `DELETE FROM asked_once
     WHERE (requester, key) IN (SELECT requester, key FROM asked_once WHERE expires_at_ms <= @nowMs LIMIT @limit)`,
  )
  const add = database.prepare<[Params<keyof KeySlot | 'intentId' | 'expiresAtMs'>]>(
    `INSERT INTO asked_once (requester, key, request_hash, intent_id, expires_at_ms)
     VALUES (@holder, @key, @requestHash, @intentId, @expiresAtMs)
     ON CONFLICT (requester, key) DO UPDATE SET request_hash = @requestHash, intent_id = @intentId,
       expires_at_ms = @expiresAtMs`,
  )
  return {
    find: ({ holder, key }, nowMs) => find.get({ holder, key, nowMs }),
    add({ holder, key, requestHash }, intentId, { nowMs, expiresAtMs }) {
      removeExpired.run({ nowMs, limit: removalBatchSize })
      add.run({ holder, key, requestHash, intentId, expiresAtMs })
    },
  }
}
