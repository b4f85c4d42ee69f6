import type { SandboxId } from '#shared/ids.ts'
import { formatIssuerCondition } from '#storage/issuerIsPresent.ts'
import { defineStatement, type Query, type Transaction } from '#storage/store.ts'
import { bytes, defineTable, number, type Params, type RowOf, text } from '#storage/table.ts'
import type { Issuer } from '../base/principals.ts'

const tokens = defineTable('port_tokens', {
  /** SHA-256 of the token. */
  hash: bytes(),
  sandboxId: text<SandboxId>(),
  port: number(),
  expiresAtMs: number(),
})
export type PortToken = RowOf<typeof tokens>

export const portTokenStatements = {
  add: defineStatement<Params<keyof PortToken | 'keyId' | 'signIn'>>(
    tokens.insertWith({ issuer_key_id: '@keyId', issuer_sign_in: '@signIn' }),
  ),
  find: defineStatement<Params<'hash' | 'nowMs'>>(
    `SELECT ${tokens.selection()} FROM port_tokens WHERE hash = @hash AND expires_at_ms > @nowMs
       AND ${formatIssuerCondition('port_tokens')}`,
  ).withRows(tokens.fromRow),
  removeExpired: defineStatement<Params<'nowMs'>>('DELETE FROM port_tokens WHERE expires_at_ms <= @nowMs'),
}

export const portTokenRepository = {
  async add(tx: Transaction, { issuer, ...token }: PortToken & { issuer: Issuer }): Promise<void> {
    const { keyId, signIn } = issuer
    await tx.run(portTokenStatements.add, { ...tokens.params(token), keyId, signIn })
  },
  /** @returns undefined for a token that has expired or whose sign-in has ended. Tokens of a revoked key are deleted */
  find: (query: Query, hash: Buffer, nowMs: number): Promise<PortToken | undefined> =>
    query.first(portTokenStatements.find, { hash, nowMs }),
  async removeExpired(tx: Transaction, nowMs: number): Promise<void> {
    await tx.run(portTokenStatements.removeExpired, { nowMs })
  },
}
