import type { SandboxId } from '#shared/ids.ts'
import { defineStatement, type Query, type Transaction } from '#storage/store.ts'
import { defineTable, number, type Params, type RowOf, type StoredRow, text } from '#storage/table.ts'

const sandboxRemovals = defineTable('sandbox_removals', { sandboxId: text<SandboxId>(), markedAtMs: number() })
type SandboxRemoval = RowOf<typeof sandboxRemovals>

export const removalStatements = {
  mark: defineStatement<Params<keyof SandboxRemoval>>(`${sandboxRemovals.insert} ON CONFLICT (sandbox_id) DO NOTHING`),
  unmark: defineStatement<Params<'id'>>('DELETE FROM sandbox_removals WHERE sandbox_id = @id'),
  find: defineStatement<Params<'id'>>(
    `SELECT ${sandboxRemovals.selection()} FROM sandbox_removals WHERE sandbox_id = @id`,
  ).withRows(sandboxRemovals.fromRow),
}
const identity = defineStatement('SELECT id FROM database_identity').withRows((row) => String(row.id))
const listMarked = defineStatement('SELECT sandbox_id AS id FROM sandbox_removals').withRows(toSandboxId)
const listRecorded = defineStatement(
  'SELECT id FROM sandboxes UNION SELECT sandbox_id AS id FROM sandbox_removals',
).withRows(toSandboxId)

/** Identity of this database, and the sandboxes whose files are being deleted. */
export const foundSandboxRepository = {
  async getDatabaseId(query: Query): Promise<string> {
    const id = await query.first(identity)
    if (id === undefined) throw new Error('The database has no id.')
    return id
  },
  /** Call this before deleting the first file of a sandbox. */
  async markRemoval(tx: Transaction, sandboxId: SandboxId, markedAtMs: number): Promise<void> {
    await tx.run(removalStatements.mark, { sandboxId, markedAtMs })
  },
  async unmarkRemoval(tx: Transaction, id: SandboxId): Promise<void> {
    await tx.run(removalStatements.unmark, { id })
  },
  async isMarked(query: Query, id: SandboxId): Promise<boolean> {
    return (await query.first(removalStatements.find, { id })) !== undefined
  },
  listMarked(query: Query): Promise<SandboxId[]> {
    return query.all(listMarked)
  },
  /** Lists the sandboxes of the database and those whose files are being deleted. */
  async listRecorded(query: Query): Promise<ReadonlySet<SandboxId>> {
    return new Set(await query.all(listRecorded))
  },
}

function toSandboxId(row: StoredRow): SandboxId {
  return row.id as SandboxId // a valid id was stored
}
