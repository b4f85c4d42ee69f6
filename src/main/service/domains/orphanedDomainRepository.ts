import type { AccountId, SandboxId } from '#shared/ids.ts'
import { defineStatement, type Query, type Transaction } from '#storage/store.ts'
import { defineTable, type Params, type RowOf, text } from '#storage/table.ts'

const orphanedDomains = defineTable('orphaned_domains', {
  domain: text(),
  accountId: text<AccountId>(),
  sandboxId: text<SandboxId>(),
  sandboxName: text(),
})
/** Name that pointed to a sandbox when that sandbox was deleted. A trigger adds the row in the same transaction. */
export type OrphanedDomain = RowOf<typeof orphanedDomains>

const selection = `SELECT ${orphanedDomains.selection()} FROM orphaned_domains`
const list = defineStatement<Params<'accountId'>>(
  `${selection} WHERE account_id = @accountId ORDER BY domain`,
).withRows(orphanedDomains.fromRow)
const listOfSandbox = defineStatement<Params<'accountId' | 'sandboxId'>>(
  `${selection} WHERE account_id = @accountId AND sandbox_id = @sandboxId ORDER BY domain`,
).withRows(orphanedDomains.fromRow)
const remove = defineStatement<Params<'domain' | 'sandboxId'>>(
  'DELETE FROM orphaned_domains WHERE domain = @domain AND sandbox_id = @sandboxId',
)

export const orphanedDomainStatements = { list, listOfSandbox, remove }

export const orphanedDomainRepository = {
  /** Sorted by name. */
  list: (query: Query, accountId: AccountId): Promise<OrphanedDomain[]> => query.all(list, { accountId }),
  /** Sorted by name. */
  listOfSandbox: (query: Query, accountId: AccountId, sandboxId: SandboxId): Promise<OrphanedDomain[]> =>
    query.all(listOfSandbox, { accountId, sandboxId }),
  /** Keeps the domain if another sandbox orphaned it later. */
  async remove(tx: Transaction, { domain, sandboxId }: OrphanedDomain): Promise<void> {
    await tx.run(remove, { domain, sandboxId })
  },
}
