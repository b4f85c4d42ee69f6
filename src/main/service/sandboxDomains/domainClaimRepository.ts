import type { SandboxId } from '#shared/ids.ts'
import type { Database } from '#storage/sqlite/openDatabase.ts'
import { defineTable, nullable, number, type Params, type RowOf, type StoredRow, text } from '#storage/table.ts'

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

export type DomainClaimRepository = {
  /** Inserts a claim, or changes its port. */
  save(claim: DomainClaim): void
  find(sandboxId: SandboxId, domain: string): DomainClaim | undefined
  /** Sorted by name. */
  list(sandboxId: SandboxId): DomainClaim[]
  remove(sandboxId: SandboxId, domain: string): void
}

export function createDomainClaimRepository(database: Database): DomainClaimRepository {
  const selection = `SELECT ${claims.selection()} FROM sandbox_domain_claims`
  const save = database.prepare<[Params<keyof DomainClaim>]>(
    `${claims.insert} ON CONFLICT (domain, sandbox_id) DO UPDATE SET port = excluded.port`,
  )
  const find = database.prepare<[Params<'domain' | 'sandboxId'>], StoredRow>(
    `${selection} WHERE domain = @domain AND sandbox_id = @sandboxId`,
  )
  const list = database.prepare<[Params<'sandboxId'>], StoredRow>(
    `${selection} WHERE sandbox_id = @sandboxId ORDER BY domain`,
  )
  const remove = database.prepare<[Params<'domain' | 'sandboxId'>]>(
    'DELETE FROM sandbox_domain_claims WHERE domain = @domain AND sandbox_id = @sandboxId',
  )
  return {
    save: (claim) => void save.run(claims.params(claim)),
    find(sandboxId, domain) {
      const row = find.get({ domain, sandboxId })
      return row && claims.fromRow(row)
    },
    list: (sandboxId) => list.all({ sandboxId }).map(claims.fromRow),
    remove: (sandboxId, domain) => void remove.run({ domain, sandboxId }),
  }
}
