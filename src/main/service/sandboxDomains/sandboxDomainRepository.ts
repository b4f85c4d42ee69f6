import type { AccountId, SandboxId } from '#shared/ids.ts'
import { defineStatement, type Query, type Transaction } from '#storage/store.ts'
import { defineTable, nullable, number, type Params, type RowOf, text } from '#storage/table.ts'

const sandboxDomains = defineTable('sandbox_domains', {
  domain: text(),
  sandboxId: text<SandboxId>(),
  /** Null for the port that was exposed first. */
  port: nullable(number()),
  createdAtMs: number(),
})
export type SandboxDomainRecord = RowOf<typeof sandboxDomains>

const selection = `SELECT ${sandboxDomains.selection()} FROM sandbox_domains`
const upsert = defineStatement<Params<keyof SandboxDomainRecord>>(sandboxDomains.upsert(['domain']))
const find = defineStatement<Params<'domain'>>(`${selection} WHERE domain = @domain`).withRows(sandboxDomains.fromRow)
const list = defineStatement<Params<'sandboxId'>>(
  `${selection} WHERE sandbox_id = @sandboxId ORDER BY domain`,
).withRows(sandboxDomains.fromRow)
const remove = defineStatement<Params<'domain'>>('DELETE FROM sandbox_domains WHERE domain = @domain')
const findAccount = defineStatement<Params<'sandboxId'>>(
  'SELECT account_id AS "accountId" FROM sandboxes WHERE id = @sandboxId',
).withRows(({ accountId }) => accountId as AccountId) // written by the sandboxes

export const sandboxDomainStatements = { upsert, find, list, remove, findAccount }

export const sandboxDomainRepository = {
  /** Inserts a domain, or changes its sandbox and port. */
  async save(tx: Transaction, record: SandboxDomainRecord): Promise<void> {
    await tx.run(upsert, sandboxDomains.params(record))
  },
  find: (query: Query, domain: string): Promise<SandboxDomainRecord | undefined> => query.first(find, { domain }),
  /** Sorted by name. */
  list: (query: Query, sandboxId: SandboxId): Promise<SandboxDomainRecord[]> => query.all(list, { sandboxId }),
  async remove(tx: Transaction, domain: string): Promise<void> {
    await tx.run(remove, { domain })
  },
  /** @returns undefined if the sandbox was removed */
  findAccount: (query: Query, sandboxId: SandboxId): Promise<AccountId | undefined> =>
    query.first(findAccount, { sandboxId }),
}
