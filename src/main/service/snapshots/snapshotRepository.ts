import type { SandboxId, SnapshotId } from '#shared/ids.ts'
import { defineStatement, type Query, type Transaction } from '#storage/store.ts'
import { defineTable, number, type Params, type RowOf, text } from '#storage/table.ts'

const snapshots = defineTable('snapshots', {
  id: text<SnapshotId>(),
  sandboxId: text<SandboxId>(),
  name: text(),
  /** 0 from before the host creates the files until they are complete. */
  sizeBytes: number(),
  createdAtMs: number(),
})
export type SnapshotRecord = RowOf<typeof snapshots>

const selection = `SELECT ${snapshots.selection()} FROM snapshots`
export const snapshotStatements = {
  add: defineStatement<Params<keyof SnapshotRecord>>(`${snapshots.insert} ON CONFLICT (id) DO NOTHING`),
  complete: defineStatement<Params<'id' | 'sizeBytes'>>('UPDATE snapshots SET size_bytes = @sizeBytes WHERE id = @id'),
  find: defineStatement<Params<'id' | 'sandboxId'>>(
    `${selection} WHERE sandbox_id = @sandboxId AND id = @id AND size_bytes > 0`,
  ).withRows(snapshots.fromRow),
  list: defineStatement<Params<'sandboxId'>>(
    `${selection} WHERE sandbox_id = @sandboxId AND size_bytes > 0 ORDER BY created_at_ms DESC, id DESC`,
  ).withRows(snapshots.fromRow),
  remove: defineStatement<Params<'id'>>('DELETE FROM snapshots WHERE id = @id'),
}
const listIncomplete = defineStatement(`${selection} WHERE size_bytes = 0`).withRows(snapshots.fromRow)
const listIds = defineStatement('SELECT id FROM snapshots').withRows((row) => row.id as SnapshotId)

export const snapshotRepository = {
  /** Adds a snapshot that is not yet complete. */
  async begin(tx: Transaction, record: Omit<SnapshotRecord, 'sizeBytes'>): Promise<void> {
    await tx.run(snapshotStatements.add, snapshots.params({ ...record, sizeBytes: 0 }))
  },
  /** Adds a complete snapshot. @returns false if its id exists */
  async adopt(tx: Transaction, record: SnapshotRecord): Promise<boolean> {
    const params = snapshots.params({ ...record, sizeBytes: toStoredSize(record.sizeBytes) })
    return (await tx.run(snapshotStatements.add, params)) === 1
  },
  async complete(tx: Transaction, id: SnapshotId, sizeBytes: number): Promise<void> {
    await tx.run(snapshotStatements.complete, { id, sizeBytes: toStoredSize(sizeBytes) })
  },
  /** Finds a complete snapshot. */
  find(query: Query, sandboxId: SandboxId, id: SnapshotId): Promise<SnapshotRecord | undefined> {
    return query.first(snapshotStatements.find, { sandboxId, id })
  },
  /** Lists complete snapshots, newest first. */
  list(query: Query, sandboxId: SandboxId): Promise<SnapshotRecord[]> {
    return query.all(snapshotStatements.list, { sandboxId })
  },
  /** Lists the incomplete snapshots of all sandboxes. */
  listIncomplete(query: Query): Promise<SnapshotRecord[]> {
    return query.all(listIncomplete)
  },
  /** Lists the snapshots of all sandboxes, including incomplete ones. */
  listIds(query: Query): Promise<SnapshotId[]> {
    return query.all(listIds)
  },
  async remove(tx: Transaction, id: SnapshotId): Promise<void> {
    await tx.run(snapshotStatements.remove, { id })
  },
}

/** Zero would mark the snapshot as incomplete. */
function toStoredSize(sizeBytes: number): number {
  return Math.max(1, Math.round(sizeBytes))
}
