import type { SandboxId } from '#shared/ids.ts'
import { defineStatement, type Query, type Transaction } from '#storage/store.ts'
import { defineTable, nullable, number, type Params, type RowOf, text } from '#storage/table.ts'

const claims = defineTable('sandbox_domain_claims', {
  domain: text(),
  sandboxId: text<SandboxId>(),
  /** Null for the port that was exposed first. */
  port: nullable(number()),
  /** Value of the DNS record that proves the ownership of the domain. Public. */
  token: text(),
  createdAtMs: number(),
})
/** Domain that will point to a sandbox after its ownership is proved. */
export type DomainClaim = RowOf<typeof claims>

const selection = `SELECT ${claims.selection()} FROM sandbox_domain_claims`
const upsert = defineStatement<Params<keyof DomainClaim>>(
  `${claims.insert} ON CONFLICT (domain, sandbox_id) DO UPDATE SET port = excluded.port`,
)
const find = defineStatement<Params<'domain' | 'sandboxId'>>(
  `${selection} WHERE domain = @domain AND sandbox_id = @sandboxId`,
).withRows(claims.fromRow)
const list = defineStatement<Params<'sandboxId'>>(
  `${selection} WHERE sandbox_id = @sandboxId ORDER BY domain`,
).withRows(claims.fromRow)
const remove = defineStatement<Params<'domain' | 'sandboxId'>>(
  'DELETE FROM sandbox_domain_claims WHERE domain = @domain AND sandbox_id = @sandboxId',
)

export const domainClaimStatements = { upsert, find, list, remove }

export const domainClaimRepository = {
  /** Inserts a claim, or changes its port. */
  async save(tx: Transaction, claim: DomainClaim): Promise<void> {
    await tx.run(upsert, claims.params(claim))
  },
  find: (query: Query, sandboxId: SandboxId, domain: string): Promise<DomainClaim | undefined> =>
    query.first(find, { domain, sandboxId }),
  /** Sorted by name. */
  list: (query: Query, sandboxId: SandboxId): Promise<DomainClaim[]> => query.all(list, { sandboxId }),
  /** @returns whether the claim existed */
  remove: async (tx: Transaction, sandboxId: SandboxId, domain: string): Promise<boolean> =>
    (await tx.run(remove, { domain, sandboxId })) > 0,
}
