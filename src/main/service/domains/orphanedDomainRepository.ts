import type { AccountId, SandboxId } from '#shared/ids.ts'
import type { Database } from '#storage/sqlite/openDatabase.ts'
import { defineTable, type Params, type RowOf, type StoredRow, text } from '#storage/table.ts'

const orphanedDomains = defineTable('orphaned_domains', {
  domain: text(),
  accountId: text<AccountId>(),
  sandboxId: text<SandboxId>(),
  sandboxName: text(),
})
/** Name that pointed to a sandbox when that sandbox was deleted. A trigger adds the row in the same transaction. */
export type OrphanedDomain = RowOf<typeof orphanedDomains>

export type OrphanedDomainRepository = {
  /** Sorted by name. */
  list(accountId: AccountId): OrphanedDomain[]
  /** Sorted by name. */
  ofSandbox(sandboxId: SandboxId): OrphanedDomain[]
  remove(domain: string): void
}

export function createOrphanedDomainRepository(database: Database): OrphanedDomainRepository {
  const selection = `SELECT ${orphanedDomains.selection()} FROM orphaned_domains`
  const list = database.prepare<[Params<'accountId'>], StoredRow>(
    `${selection} WHERE account_id = @accountId ORDER BY domain`,
  )
  const ofSandbox = database.prepare<[Params<'sandboxId'>], StoredRow>(
    `${selection} WHERE sandbox_id = @sandboxId ORDER BY domain`,
  )
  const remove = database.prepare<[Params<'domain'>]>('DELETE FROM orphaned_domains WHERE domain = @domain')
  return {
    list: (accountId) => list.all({ accountId }).map(orphanedDomains.fromRow),
    ofSandbox: (sandboxId) => ofSandbox.all({ sandboxId }).map(orphanedDomains.fromRow),
    remove: (domain) => void remove.run({ domain }),
  }
}
