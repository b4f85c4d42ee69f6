import type { Database } from '#storage/sqlite/openDatabase.ts'
import { defineTable, number, type Params, type RowOf, text } from '#storage/table.ts'

const nonces = defineTable('auth_nonces', { nonce: text(), expiresAtMs: number() })
type Nonce = RowOf<typeof nonces>

export type NonceRepository = {
  add(nonce: string, expiresAtMs: number): void
  /** Removes a nonce. @returns the expiry of the nonce, or undefined for an unknown nonce */
  take(nonce: string): number | undefined
  removeExpired(nowMs: number): void
  /** Removes all but the `max` nonces that expire last. */
  trim(max: number): void
}

export function createNonceRepository(database: Database): NonceRepository {
  const add = database.prepare<[Params<keyof Nonce>]>(nonces.insert)
  const take = database.prepare<[Params<'nonce'>], Pick<Nonce, 'expiresAtMs'>>(
    'DELETE FROM auth_nonces WHERE nonce = @nonce RETURNING expires_at_ms AS "expiresAtMs"',
  )
  const removeExpired = database.prepare<[Params<'nowMs'>]>('DELETE FROM auth_nonces WHERE expires_at_ms <= @nowMs')
  const trim = database.prepare<[Params<'most'>]>(
    `DELETE FROM auth_nonces WHERE (expires_at_ms, nonce) <=
       (SELECT expires_at_ms, nonce FROM auth_nonces ORDER BY expires_at_ms DESC, nonce DESC LIMIT 1 OFFSET @most)`,
  )
  return {
    add: (nonce, expiresAtMs) => void add.run({ nonce, expiresAtMs }),
    take: (nonce) => take.get({ nonce })?.expiresAtMs,
    removeExpired: (nowMs) => void removeExpired.run({ nowMs }),
    trim: (max) => void trim.run({ most: max }),
  }
}
