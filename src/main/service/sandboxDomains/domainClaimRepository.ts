import { SandboxId } from '../../../shared/ids.ts'
import type { Database } from '../../storage/openDatabase.ts'
import type { SandboxDomainRecord } from './sandboxDomainRepository.ts'

/** A domain that is to lead to a sandbox once it is proved. */
export type DomainClaim = SandboxDomainRecord & { token: string }

export type DomainClaimRepository = {
  /** Inserts it, or changes its port. */
  save(claim: DomainClaim): void
  find(sandboxId: SandboxId, domain: string): DomainClaim | undefined
  /** By name. */
  list(sandboxId: SandboxId): DomainClaim[]
  remove(sandboxId: SandboxId, domain: string): void
}

type Row = Omit<DomainClaim, 'sandboxId'> & { sandboxId: string }
const columns = 'domain, sandbox_id AS sandboxId, port, token, created_at_ms AS createdAtMs'

export function domainClaimRepository(database: Database): DomainClaimRepository {
  const save = database.prepare<[DomainClaim]>(
    `INSERT INTO sandbox_domain_claims (domain, sandbox_id, port, token, created_at_ms)
     VALUES (:domain, :sandboxId, :port, :token, :createdAtMs)
     ON CONFLICT (domain, sandbox_id) DO UPDATE SET port = excluded.port`,
  )
  const find = database.prepare<[string, string], Row>(
    `SELECT ${columns} FROM sandbox_domain_claims WHERE domain = ? AND sandbox_id = ?`,
  )
  const list = database.prepare<[string], Row>(
    `SELECT ${columns} FROM sandbox_domain_claims WHERE sandbox_id = ? ORDER BY domain`,
  )
  const remove = database.prepare<[string, string]>(
    'DELETE FROM sandbox_domain_claims WHERE domain = ? AND sandbox_id = ?',
  )
  const claimOf = (row: Row): DomainClaim => ({ ...row, sandboxId: SandboxId.parse(row.sandboxId) })
  return {
    save: (claim) => void save.run(claim),
    find(sandboxId, domain) {
      const row = find.get(domain, sandboxId)
      return row && claimOf(row)
    },
    list: (sandboxId) => list.all(sandboxId).map(claimOf),
    remove: (sandboxId, domain) => void remove.run(domain, sandboxId),
  }
}
