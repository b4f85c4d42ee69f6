import { AccountId, SandboxId } from '../../../shared/ids.ts'
import type { Database } from '../../storage/openDatabase.ts'

export type TerminalLinkRecord = { hash: Buffer; sandboxId: SandboxId; accountId: AccountId; expiresAtMs: number }

export type TerminalLinkRepository = {
  add(link: TerminalLinkRecord): void
  find(hash: Buffer, nowMs: number): TerminalLinkRecord | undefined
  removeExpired(nowMs: number): void
}

export function terminalLinkRepository(database: Database): TerminalLinkRepository {
  const add = database.prepare<[Buffer, string, string, number]>('INSERT INTO terminal_links VALUES (?, ?, ?, ?)')
  const find = database.prepare<
    [Buffer, number],
    { hash: Buffer; sandboxId: string; accountId: string; expiresAtMs: number }
  >(
    `SELECT hash, sandbox_id AS sandboxId, account_id AS accountId, expires_at_ms AS expiresAtMs
     FROM terminal_links WHERE hash = ? AND expires_at_ms > ?`,
  )
  const removeExpired = database.prepare<[number]>('DELETE FROM terminal_links WHERE expires_at_ms <= ?')
  return {
    add({ hash, sandboxId, accountId, expiresAtMs }) {
      add.run(hash, sandboxId, accountId, expiresAtMs)
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
