import { Visibility } from '../../../shared/contract/ports.ts'
import { SandboxId } from '../../../shared/ids.ts'
import { issuerIsPresent } from '../../storage/issuerIsPresent.ts'
import type { Database } from '../../storage/openDatabase.ts'
import type { Issuer } from '../principals.ts'

export type PortRecord = { sandboxId: SandboxId; port: number; visibility: Visibility; subdomain: string | null }

export type PortRepository = {
  /** Inserts or updates it. */
  save(record: PortRecord): void
  find(sandboxId: string, port: number): PortRecord | undefined
  findNamed(subdomain: string): PortRecord | undefined
  /** The one that was added first. */
  first(sandboxId: SandboxId): PortRecord | undefined
  /** The lowest port first. */
  list(sandboxId: SandboxId): PortRecord[]
  /** @returns whether it was there */
  remove(sandboxId: SandboxId, port: number): boolean
  addToken(token: { hash: Buffer; sandboxId: SandboxId; port: number; expiresAtMs: number; issuer: Issuer }): void
  /** @returns undefined for a token that has expired, or whose sign-in has ended. Those of a revoked key are deleted. */
  findToken(hash: Buffer, nowMs: number): { hash: Buffer; sandboxId: string; port: number } | undefined
  removeExpiredTokens(nowMs: number): void
}

type Row = { sandboxId: string; port: number; visibility: string; subdomain: string | null }

export function portRepository(database: Database): PortRepository {
  const columns = 'sandbox_id AS sandboxId, port, visibility, subdomain'
  const save = database.prepare<[PortRecord]>(
    `INSERT INTO ports (sandbox_id, port, visibility, subdomain) VALUES (:sandboxId, :port, :visibility, :subdomain)
     ON CONFLICT (sandbox_id, port) DO UPDATE SET visibility = excluded.visibility, subdomain = excluded.subdomain`,
  )
  const find = database.prepare<[string, number], Row>(`SELECT ${columns} FROM ports WHERE sandbox_id = ? AND port = ?`)
  const findNamed = database.prepare<[string], Row>(`SELECT ${columns} FROM ports WHERE subdomain = ?`)
  const list = database.prepare<[string], Row>(`SELECT ${columns} FROM ports WHERE sandbox_id = ? ORDER BY port`)
  const first = database.prepare<[string], Row>(
    `SELECT ${columns} FROM ports WHERE sandbox_id = ? ORDER BY rowid LIMIT 1`,
  )
  const remove = database.prepare<[string, number]>('DELETE FROM ports WHERE sandbox_id = ? AND port = ?')
  const addToken = database.prepare<[Buffer, string, number, number, string | null, string | null]>(
    `INSERT INTO port_tokens (hash, sandbox_id, port, expires_at_ms, issuer_key_id, issuer_sign_in)
     VALUES (?, ?, ?, ?, ?, ?)`,
  )
  const findToken = database.prepare<[Buffer, number], { hash: Buffer; sandboxId: string; port: number }>(
    `SELECT hash, sandbox_id AS sandboxId, port FROM port_tokens WHERE hash = ? AND expires_at_ms > ?
       AND ${issuerIsPresent('port_tokens')}`,
  )
  const removeExpired = database.prepare<[number]>('DELETE FROM port_tokens WHERE expires_at_ms <= ?')
  const known = (row: Row | undefined) => row && recordOf(row)

  return {
    save(record) {
      save.run(record)
    },
    find: (sandboxId, port) => known(find.get(sandboxId, port)),
    findNamed: (subdomain) => known(findNamed.get(subdomain)),
    first: (sandboxId) => known(first.get(sandboxId)),
    list: (sandboxId) => list.all(sandboxId).map(recordOf),
    remove: (sandboxId, port) => remove.run(sandboxId, port).changes > 0,
    addToken({ hash, sandboxId, port, expiresAtMs, issuer }) {
      addToken.run(hash, sandboxId, port, expiresAtMs, issuer.keyId, issuer.signIn)
    },
    findToken: (hash, nowMs) => findToken.get(hash, nowMs),
    removeExpiredTokens(nowMs) {
      removeExpired.run(nowMs)
    },
  }
}

function recordOf({ sandboxId, port, visibility, subdomain }: Row): PortRecord {
  return { sandboxId: SandboxId.parse(sandboxId), port, visibility: Visibility.parse(visibility), subdomain }
}
