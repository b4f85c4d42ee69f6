import type { AccountId, SandboxId } from '#shared/ids.ts'
import { formatIssuerCondition } from '#storage/issuerIsPresent.ts'
import type { Database } from '#storage/sqlite/openDatabase.ts'
import { bytes, defineTable, number, type Params, type RowOf, type StoredRow, text } from '#storage/table.ts'
import type { Issuer } from '../base/principals.ts'

const links = defineTable('terminal_links', {
  /** SHA-256 of the token. */
  hash: bytes(),
  sandboxId: text<SandboxId>(),
  accountId: text<AccountId>(),
  expiresAtMs: number(),
})
export type TerminalLinkRecord = RowOf<typeof links>

export type TerminalLinkRepository = {
  add(link: TerminalLinkRecord & { issuer: Issuer }): void
  /** @returns undefined for a link that has expired or whose sign-in has ended. Links of a revoked key are deleted */
  find(
    hash: Buffer,
    nowMs: number,
  ): (TerminalLinkRecord & { issuerKey: { id: string; name: string } | null }) | undefined
  removeExpired(nowMs: number): void
}

export function createTerminalLinkRepository(database: Database): TerminalLinkRepository {
  const add = database.prepare<[Params<keyof TerminalLinkRecord | 'keyId' | 'signIn'>]>(
    links.insertWith({ issuer_key_id: '@keyId', issuer_sign_in: '@signIn' }),
  )
  const find = database.prepare<
    [Params<'hash' | 'nowMs'>],
    StoredRow & { keyId: string | null; keyName: string | null }
  >(
    `SELECT ${links.selection('terminal_links')}, api_keys.id AS "keyId", api_keys.name AS "keyName"
     FROM terminal_links LEFT JOIN api_keys ON api_keys.id = issuer_key_id AND in_owner_file = 0
     WHERE terminal_links.hash = @hash AND expires_at_ms > @nowMs AND ${formatIssuerCondition('terminal_links')}`,
  )
  const removeExpired = database.prepare<[Params<'nowMs'>]>('DELETE FROM terminal_links WHERE expires_at_ms <= @nowMs')
  return {
    add({ issuer: { keyId, signIn }, ...link }) {
      add.run({ ...links.params(link), keyId, signIn })
    },
    find(hash, nowMs) {
      const row = find.get({ hash, nowMs })
      if (!row) return undefined
      const { keyId: id, keyName: name } = row
      return { ...links.fromRow(row), issuerKey: id !== null && name !== null ? { id, name } : null }
    },
    removeExpired: (nowMs) => void removeExpired.run({ nowMs }),
  }
}
