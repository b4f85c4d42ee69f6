import type { Database } from '../../storage/openDatabase.ts'

export type NonceRepository = {
  add(nonce: string, expiresAtMs: number): void
  /** @returns when it would have ended, of a nonce that was there; it is gone afterwards. */
  take(nonce: string): number | undefined
  removeExpired(nowMs: number): void
  /** Keeps the `most` that end last. */
  trim(most: number): void
}

export function nonceRepository(database: Database): NonceRepository {
  const add = database.prepare<[string, number]>('INSERT INTO auth_nonces VALUES (?, ?)')
  const take = database.prepare<[string], { expiresAtMs: number }>(
    'DELETE FROM auth_nonces WHERE nonce = ? RETURNING expires_at_ms AS expiresAtMs',
  )
  const removeExpired = database.prepare<[number]>('DELETE FROM auth_nonces WHERE expires_at_ms <= ?')
  const trim = database.prepare<[number]>(
    'DELETE FROM auth_nonces WHERE nonce IN (SELECT nonce FROM auth_nonces ORDER BY expires_at_ms DESC LIMIT -1 OFFSET ?)',
  )
  return {
    add(nonce, expiresAtMs) {
      add.run(nonce, expiresAtMs)
    },
    take: (nonce) => take.get(nonce)?.expiresAtMs,
    removeExpired(nowMs) {
      removeExpired.run(nowMs)
    },
    trim(most) {
      trim.run(most)
    },
  }
}
