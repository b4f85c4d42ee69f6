import { AccountId, SandboxId } from '../../../shared/ids.ts'
import { issuerIsPresent } from '../../storage/issuerIsPresent.ts'
import type { Database } from '../../storage/openDatabase.ts'
import type { Issuer } from '../principals.ts'

export type TerminalLinkRecord = { hash: Buffer; sandboxId: SandboxId; accountId: AccountId; expiresAtMs: number }

export type TerminalLinkRepository = {
  add(link: TerminalLinkRecord & { issuer: Issuer }): void
  /** @returns undefined for a link that has expired, or whose sign-in has ended. Those of a revoked key are deleted. */
  find(
    hash: Buffer,
    nowMs: number,
  ): (TerminalLinkRecord & { issuerKey: { id: string; name: string } | null }) | undefined
  removeExpired(nowMs: number): void
}

export function terminalLinkRepository(database: Database): TerminalLinkRepository {
  const add = database.prepare<[Buffer, string, string, number, string | null, string | null]>(
    `INSERT INTO terminal_links (hash, sandbox_id, account_id, expires_at_ms, issuer_key_id, issuer_sign_in)
     VALUES (?, ?, ?, ?, ?, ?)`,
  )
  const find = database.prepare<
    [Buffer, number],
    {
      hash: Buffer
      sandboxId: string
      accountId: string
      expiresAtMs: number
      keyId: string | null
      keyName: string | null
    }
  >(
    `SELECT terminal_links.hash, sandbox_id AS sandboxId, terminal_links.account_id AS accountId,
       expires_at_ms AS expiresAtMs, api_keys.id AS keyId, api_keys.name AS keyName
     FROM terminal_links LEFT JOIN api_keys ON api_keys.id = issuer_key_id AND in_owner_file = 0
     WHERE terminal_links.hash = ? AND expires_at_ms > ? AND ${issuerIsPresent('terminal_links')}`,
  )
  const removeExpired = database.prepare<[number]>('DELETE FROM terminal_links WHERE expires_at_ms <= ?')
  return {
    add({ hash, sandboxId, accountId, expiresAtMs, issuer }) {
      add.run(hash, sandboxId, accountId, expiresAtMs, issuer.keyId, issuer.signIn)
    },
    find(hash, nowMs) {
      const row = find.get(hash, nowMs)
      if (!row) return undefined
      const { keyId, keyName, ...link } = row
      return {
        ...link,
        sandboxId: SandboxId.parse(link.sandboxId),
        accountId: AccountId.parse(link.accountId),
        issuerKey: keyId !== null && keyName !== null ? { id: keyId, name: keyName } : null,
      }
    },
    removeExpired(nowMs) {
      removeExpired.run(nowMs)
    },
  }
}
