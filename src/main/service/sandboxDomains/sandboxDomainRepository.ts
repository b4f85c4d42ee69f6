import { SandboxId } from '../../../shared/ids.ts'
import type { Database } from '../../storage/openDatabase.ts'

export type SandboxDomainRecord = {
  domain: string
  sandboxId: SandboxId
  /** Null: the port that was exposed first. */
  port: number | null
  createdAtMs: number
}

export type SandboxDomainRepository = {
  /** Inserts it, or leads it elsewhere. */
  save(record: SandboxDomainRecord): void
  find(domain: string): SandboxDomainRecord | undefined
  /** By name. */
  list(sandboxId: SandboxId): SandboxDomainRecord[]
  remove(domain: string): void
}

type Row = { domain: string; sandboxId: string; port: number | null; createdAtMs: number }

export function sandboxDomainRepository(database: Database): SandboxDomainRepository {
  const columns = 'domain, sandbox_id AS sandboxId, port, created_at_ms AS createdAtMs'
  const save = database.prepare<[SandboxDomainRecord]>(
    `INSERT INTO sandbox_domains (domain, sandbox_id, port, created_at_ms)
     VALUES (:domain, :sandboxId, :port, :createdAtMs)
     ON CONFLICT (domain) DO UPDATE SET sandbox_id = excluded.sandbox_id, port = excluded.port,
       created_at_ms = excluded.created_at_ms`,
  )
  const find = database.prepare<[string], Row>(`SELECT ${columns} FROM sandbox_domains WHERE domain = ?`)
  const list = database.prepare<[string], Row>(
    `SELECT ${columns} FROM sandbox_domains WHERE sandbox_id = ? ORDER BY domain`,
  )
  const remove = database.prepare<[string]>('DELETE FROM sandbox_domains WHERE domain = ?')
  const recordOf = (row: Row): SandboxDomainRecord => ({ ...row, sandboxId: SandboxId.parse(row.sandboxId) })

  return {
    save(record) {
      save.run(record)
    },
    find(domain) {
      const row = find.get(domain)
      return row && recordOf(row)
    },
    list: (sandboxId) => list.all(sandboxId).map(recordOf),
    remove(domain) {
      remove.run(domain)
    },
  }
}
