import { defineStatement, type Transaction } from '#storage/store.ts'
import { defineTable, number, type Params, type RowOf, text } from '#storage/table.ts'

const nonces = defineTable('auth_nonces', { nonce: text(), expiresAtMs: number() })
type Nonce = RowOf<typeof nonces>

const insert = defineStatement<Params<keyof Nonce>>(nonces.insert)
const remove = defineStatement<Params<'nonce'>>(
  `DELETE FROM auth_nonces WHERE nonce = @nonce RETURNING ${nonces.selection()}`,
).withRows(nonces.fromRow)
const removeExpired = defineStatement<Params<'nowMs'>>('DELETE FROM auth_nonces WHERE expires_at_ms <= @nowMs')
const trim = defineStatement<Params<'max'>>(
  `DELETE FROM auth_nonces WHERE (expires_at_ms, nonce) <=
     (SELECT expires_at_ms, nonce FROM auth_nonces ORDER BY expires_at_ms DESC, nonce DESC LIMIT 1 OFFSET @max)`,
)

/** Nonces of sign-ins that were issued and not used yet. */
export const nonceRepository = {
  async add(tx: Transaction, nonce: string, expiresAtMs: number): Promise<void> {
    await tx.run(insert, { nonce, expiresAtMs })
  },
  /** Removes a nonce. @returns the expiry of the nonce, or undefined for an unknown nonce */
  async take(tx: Transaction, nonce: string): Promise<number | undefined> {
    return (await tx.first(remove, { nonce }))?.expiresAtMs
  },
  async removeExpired(tx: Transaction, nowMs: number): Promise<void> {
    await tx.run(removeExpired, { nowMs })
  },
  /** Removes all but the `max` nonces that expire last. */
  async trim(tx: Transaction, max: number): Promise<void> {
    await tx.run(trim, { max })
  },
}
