import type { SandboxId } from '#shared/ids.ts'
import type { Database } from '#storage/sqlite/openDatabase.ts'
import { defineTable, nullable, number, type Params, type RowOf, type StoredRow, text } from '#storage/table.ts'

const sandboxDomains = defineTable('sandbox_domains', {
  domain: text(),
  sandboxId: text<SandboxId>(),
  /** Null for the port that was exposed first. */
  port: nullable(number()),
  createdAtMs: number(),
})
export type SandboxDomainRecord = RowOf<typeof sandboxDomains>

export type SandboxDomainRepository = {
  /** Inserts a domain, or changes its sandbox and port. */
  save(record: SandboxDomainRecord): void
  find(domain: string): SandboxDomainRecord | undefined
  /** Sorted by name. */
  list(sandboxId: SandboxId): SandboxDomainRecord[]
  remove(domain: string): void
}

export function createSandboxDomainRepository(database: Database): SandboxDomainRepository {
  const selection = `SELECT ${sandboxDomains.selection()} FROM sandbox_domains`
  const save = database.prepare<[Params<keyof SandboxDomainRecord>]>(sandboxDomains.upsert(['domain']))
  const find = database.prepare<[Params<'domain'>], StoredRow>(`${selection} WHERE domain = @domain`)
  const list = database.prepare<[Params<'sandboxId'>], StoredRow>(
    `${selection} WHERE sandbox_id = @sandboxId ORDER BY domain`,
  )
  const remove = database.prepare<[Params<'domain'>]>('DELETE FROM sandbox_domains WHERE domain = @domain')

  return {
    save: (record) => void save.run(sandboxDomains.params(record)),
    find(domain) {
      const row = find.get({ domain })
      return row && sandboxDomains.fromRow(row)
    },
    list: (sandboxId) => list.all({ sandboxId }).map(sandboxDomains.fromRow),
    remove: (domain) => void remove.run({ domain }),
  }
}
