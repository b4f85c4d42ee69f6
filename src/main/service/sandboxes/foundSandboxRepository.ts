import { SandboxId } from '../../../shared/ids.ts'
import type { Database } from '../../storage/openDatabase.ts'

/** Identity of this database, and sandboxes whose files are being deleted. */
export type FoundSandboxRepository = {
  databaseId: string
  /** Must be called before the first file of a sandbox is deleted. */
  markRemoval(id: SandboxId, atMs: number): void
  unmarkRemoval(id: SandboxId): void
  removals(): SandboxId[]
}

export function foundSandboxRepository(database: Database): FoundSandboxRepository {
  const identity = database.prepare<[], { id: string }>('SELECT id FROM database_identity').get()
  if (!identity) throw new Error('The database has no id.')
  const mark = database.prepare<[string, number]>(
    'INSERT INTO sandbox_removals VALUES (?, ?) ON CONFLICT (sandbox_id) DO NOTHING',
  )
  const unmark = database.prepare<[string]>('DELETE FROM sandbox_removals WHERE sandbox_id = ?')
  const removals = database.prepare<[], { id: string }>('SELECT sandbox_id AS id FROM sandbox_removals')
  return {
    databaseId: identity.id,
    markRemoval: (id, atMs) => void mark.run(id, atMs),
    unmarkRemoval: (id) => void unmark.run(id),
    removals: () => removals.all().map(({ id }) => SandboxId.parse(id)),
  }
}
