import type { AccountId, SandboxId } from '../../../shared/ids.ts'
import type { Database } from '../../storage/openDatabase.ts'

/** Name that led to a sandbox when that was deleted. A trigger of the schema adds it, in the same transaction. */
export type OrphanedDomain = { domain: string; sandboxId: string; sandboxName: string }

export type OrphanedDomainRepository = {
  /** By name. */
  list(accountId: AccountId): OrphanedDomain[]
  ofSandbox(sandboxId: SandboxId): (OrphanedDomain & { accountId: string })[]
  remove(domain: string): void
}

export function orphanedDomainRepository(database: Database): OrphanedDomainRepository {
  const columns = 'domain, sandbox_id AS sandboxId, sandbox_name AS sandboxName'
  const list = database.prepare<[string], OrphanedDomain>(
    `SELECT ${columns} FROM orphaned_domains WHERE account_id = ? ORDER BY domain`,
  )
  const ofSandbox = database.prepare<[string], OrphanedDomain & { accountId: string }>(
    `SELECT ${columns}, account_id AS accountId FROM orphaned_domains WHERE sandbox_id = ? ORDER BY domain`,
  )
  const remove = database.prepare<[string]>('DELETE FROM orphaned_domains WHERE domain = ?')
  return {
    list: (accountId) => list.all(accountId),
    ofSandbox: (sandboxId) => ofSandbox.all(sandboxId),
    remove: (domain) => void remove.run(domain),
  }
}
