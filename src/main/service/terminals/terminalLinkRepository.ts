import type { AccountId, SandboxId } from '#shared/ids.ts'
import { formatIssuerCondition } from '#storage/issuerIsPresent.ts'
import { defineStatement, type Query, type Transaction } from '#storage/store.ts'
import { bytes, defineTable, number, type Params, type RowOf, text } from '#storage/table.ts'
import type { Issuer } from '../base/principals.ts'

const links = defineTable('terminal_links', {
  /** SHA-256 of the token. */
  hash: bytes(),
  sandboxId: text<SandboxId>(),
  accountId: text<AccountId>(),
  expiresAtMs: number(),
})
export type TerminalLinkRecord = RowOf<typeof links>

export type TerminalLinkWithKey = TerminalLinkRecord & { issuerKey: { id: string; name: string } | null }

export const terminalLinkStatements = {
  add: defineStatement<Params<keyof TerminalLinkRecord | 'keyId' | 'signIn'>>(
    links.insertWith({ issuer_key_id: '@keyId', issuer_sign_in: '@signIn' }),
  ),
  find: defineStatement<Params<'hash' | 'nowMs'>>(
    `SELECT ${links.selection('terminal_links')}, api_keys.id AS "keyId", api_keys.name AS "keyName"
     FROM terminal_links LEFT JOIN api_keys ON api_keys.id = issuer_key_id AND in_owner_file = 0
     WHERE terminal_links.hash = @hash AND expires_at_ms > @nowMs AND ${formatIssuerCondition('terminal_links')}`,
  ).withRows((row): TerminalLinkWithKey => {
    const { keyId: id, keyName: name } = row
    const issuerKey = typeof id === 'string' && typeof name === 'string' ? { id, name } : null
    return { ...links.fromRow(row), issuerKey }
  }),
  removeExpired: defineStatement<Params<'nowMs'>>('DELETE FROM terminal_links WHERE expires_at_ms <= @nowMs'),
}

export const terminalLinkRepository = {
  async add(tx: Transaction, { issuer, ...link }: TerminalLinkRecord & { issuer: Issuer }): Promise<void> {
    const { keyId, signIn } = issuer
    await tx.run(terminalLinkStatements.add, { ...links.params(link), keyId, signIn })
  },
  /** @returns undefined for a link that has expired or whose sign-in has ended. Links of a revoked key are deleted */
  find(query: Query, hash: Buffer, nowMs: number): Promise<TerminalLinkWithKey | undefined> {
    return query.first(terminalLinkStatements.find, { hash, nowMs })
  },
  async removeExpired(tx: Transaction, nowMs: number): Promise<void> {
    await tx.run(terminalLinkStatements.removeExpired, { nowMs })
  },
}
