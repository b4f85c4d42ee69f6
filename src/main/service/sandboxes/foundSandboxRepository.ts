import type { SandboxId } from '#shared/ids.ts'
import type { Database } from '#storage/sqlite/openDatabase.ts'
import { defineTable, number, type Params, type RowOf, text } from '#storage/table.ts'

const sandboxRemovals = defineTable('sandbox_removals', { sandboxId: text<SandboxId>(), markedAtMs: number() })
type SandboxRemoval = RowOf<typeof sandboxRemovals>

/** Identity of this database, and the sandboxes whose files are being deleted. */
export type FoundSandboxRepository = {
  databaseId: string
  /** Call this before deleting the first file of a sandbox. */
  markRemoval(id: SandboxId, atMs: number): void
  unmarkRemoval(id: SandboxId): void
  removals(): SandboxId[]
}

export function createFoundSandboxRepository(database: Database): FoundSandboxRepository {
  const identity = database.prepare<[], { id: string }>('SELECT id FROM database_identity').get()
  if (!identity) throw new Error('The database has no id.')
  const mark = database.prepare<[Params<keyof SandboxRemoval>]>(
    `${sandboxRemovals.insert} ON CONFLICT (sandbox_id) DO NOTHING`,
  )
  const unmark = database.prepare<[Params<'id'>]>('DELETE FROM sandbox_removals WHERE sandbox_id = @id')
  const removals = database.prepare<[], { id: SandboxId }>('SELECT sandbox_id AS id FROM sandbox_removals')
  return {
    databaseId: identity.id,
    markRemoval: (sandboxId, markedAtMs) => void mark.run({ sandboxId, markedAtMs }),
    unmarkRemoval: (id) => void unmark.run({ id }),
    removals: () => removals.all().map(({ id }) => id),
  }
}
