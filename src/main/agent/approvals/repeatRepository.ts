import type { KeySlot } from '../../platform/oncePerKey.ts'
import type { Database } from '../../storage/openDatabase.ts'
import {
  bytes,
  defineTable,
  named,
  number,
  type Params,
  type RowOf,
  type StoredRow,
  text,
} from '../../storage/table.ts'

const repeats = defineTable('asked_once', {
  /** Kind and id of the requester. */
  holder: named('asker', text()),
  key: text(),
  requestHash: bytes(),
  intentId: text(),
  expiresAtMs: number(),
})

/** Intents by the `Idempotency-Key` of the request that made them. */
export type RepeatRepository = {
  find(slot: Pick<KeySlot, 'holder' | 'key'>, nowMs: number): { requestHash: Buffer; answer: string } | undefined
  add(slot: KeySlot, intentId: string, times: { nowMs: number; expiresAtMs: number }): void
}

const removalBatchSize = 100

export function repeatRepository(database: Database): RepeatRepository {
  const find = database.prepare<[Params<'holder' | 'key' | 'nowMs'>], StoredRow>(
    `SELECT ${repeats.selection()} FROM asked_once WHERE asker = @holder AND key = @key AND expires_at_ms > @nowMs`,
  )
  const removeExpired = database.prepare<[Params<'nowMs' | 'limit'>]>(
    `DELETE FROM asked_once
     WHERE (asker, key) IN (SELECT asker, key FROM asked_once WHERE expires_at_ms <= @nowMs LIMIT @limit)`,
  )
  const add = database.prepare<[Params<keyof RowOf<typeof repeats>>]>(repeats.upsert(['holder', 'key']))
  return {
    find({ holder, key }, nowMs) {
      const row = find.get({ holder, key, nowMs })
      if (!row) return undefined
      const { requestHash, intentId } = repeats.fromRow(row)
      return { requestHash, answer: intentId }
    },
    add({ holder, key, requestHash }, intentId, { nowMs, expiresAtMs }) {
      removeExpired.run({ nowMs, limit: removalBatchSize })
      add.run(repeats.params({ holder, key, requestHash, intentId, expiresAtMs }))
    },
  }
}
