import type { SandboxId, SnapshotId } from '#shared/ids.ts'
import type { Database } from '#storage/sqlite/openDatabase.ts'
import { defineTable, number, type Params, type RowOf, type StoredRow, text } from '#storage/table.ts'

const snapshots = defineTable('snapshots', {
  id: text<SnapshotId>(),
  sandboxId: text<SandboxId>(),
  name: text(),
  /** 0 from before the host creates the files until they are complete. */
  sizeBytes: number(),
  createdAtMs: number(),
})
export type SnapshotRecord = RowOf<typeof snapshots>

export type SnapshotRepository = {
  /** Adds a snapshot that is not yet complete. */
  begin(record: Omit<SnapshotRecord, 'sizeBytes'>): void
  complete(id: SnapshotId, sizeBytes: number): void
  /** Finds a complete snapshot. */
  find(sandboxId: SandboxId, id: SnapshotId): SnapshotRecord | undefined
  /** Lists complete snapshots, newest first. */
  list(sandboxId: SandboxId): SnapshotRecord[]
  /** Lists the incomplete snapshots of all sandboxes. */
  incomplete(): SnapshotRecord[]
  remove(id: SnapshotId): void
}

export function createSnapshotRepository(database: Database): SnapshotRepository {
  const selection = `SELECT ${snapshots.selection()} FROM snapshots`
  const begin = database.prepare<[Params<keyof SnapshotRecord>]>(snapshots.insert)
  const complete = database.prepare<[Params<'id' | 'sizeBytes'>]>(
    'UPDATE snapshots SET size_bytes = @sizeBytes WHERE id = @id',
  )
  const find = database.prepare<[Params<'id' | 'sandboxId'>], StoredRow>(
    `${selection} WHERE sandbox_id = @sandboxId AND id = @id AND size_bytes > 0`,
  )
  const list = database.prepare<[Params<'sandboxId'>], StoredRow>(
    `${selection} WHERE sandbox_id = @sandboxId AND size_bytes > 0 ORDER BY created_at_ms DESC, rowid DESC`,
  )
  const incomplete = database.prepare<[], StoredRow>(`${selection} WHERE size_bytes = 0`)
  const remove = database.prepare<[Params<'id'>]>('DELETE FROM snapshots WHERE id = @id')

  return {
    begin: (record) => void begin.run(snapshots.params({ ...record, sizeBytes: 0 })),
    complete: (id, sizeBytes) => void complete.run({ id, sizeBytes: Math.max(1, Math.round(sizeBytes)) }),
    find(sandboxId, id) {
      const row = find.get({ sandboxId, id })
      return row && snapshots.fromRow(row)
    },
    list: (sandboxId) => list.all({ sandboxId }).map(snapshots.fromRow),
    incomplete: () => incomplete.all().map(snapshots.fromRow),
    remove: (id) => void remove.run({ id }),
  }
}
