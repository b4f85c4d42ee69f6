import { AccountId, SandboxId } from '../../../shared/ids.ts'
import { issuerIsPresent } from '../../storage/issuerIsPresent.ts'
import type { Database } from '../../storage/openDatabase.ts'
import type { Issuer } from '../principals.ts'

export type TerminalLinkRecord = { hash: Buffer; sandboxId: SandboxId; accountId: AccountId; expiresAtMs: number }

export type TerminalLinkRepository = {
  add(link: TerminalLinkRecord & { issuer: Issuer }): void
  /** @returns undefined for a link that has expired, or whose sign-in has ended. Those of a revoked key are deleted. */
  find(hash: Buffer, nowMs: number): (TerminalLinkRecord & { issuerName: string | null }) | undefined
  removeExpired(nowMs: number): void
}

export function terminalLinkRepository(database: Database): TerminalLinkRepository {
  const add = database.prepare<[Buffer, string, string, number, string | null, string | null]>(
    `INSERT INTO terminal_links (hash, sandbox_id, account_id, expires_at_ms, issuer_key_id, issuer_sign_in)
     VALUES (?, ?, ?, ?, ?, ?)`,
  )
  const find = database.prepare<
    [Buffer, number],
    { hash: Buffer; sandboxId: string; accountId: string; expiresAtMs: number; issuerName: string | null }
  >(
    `SELECT hash, sandbox_id AS sandboxId, account_id AS accountId, expires_at_ms AS expiresAtMs,
       (SELECT name FROM api_keys WHERE id = issuer_key_id AND in_owner_file = 0) AS issuerName
     FROM terminal_links WHERE hash = ? AND expires_at_ms > ? AND ${issuerIsPresent}`,
  )
  const removeExpired = database.prepare<[number]>('DELETE FROM terminal_links WHERE expires_at_ms <= ?')
  return {
    add({ hash, sandboxId, accountId, expiresAtMs, issuer }) {
      add.run(hash, sandboxId, accountId, expiresAtMs, issuer.keyId, issuer.signIn)
    },
    find(hash, nowMs) {
      const row = find.get(hash, nowMs)
      return row && { ...row, sandboxId: SandboxId.parse(row.sandboxId), accountId: AccountId.parse(row.accountId) }
    },
    removeExpired(nowMs) {
      removeExpired.run(nowMs)
    },
  }
}
