import { SandboxId, SnapshotId } from '../../../shared/ids.ts'
import type { Database } from '../../storage/openDatabase.ts'

/** `sizeBytes` is 0 from before the host makes the files until they are complete. */
export type SnapshotRecord = {
  id: SnapshotId
  sandboxId: SandboxId
  name: string
  sizeBytes: number
  createdAtMs: number
}

export type SnapshotRepository = {
  /** As not yet complete. */
  begin(record: Omit<SnapshotRecord, 'sizeBytes'>): void
  complete(id: SnapshotId, sizeBytes: number): void
  /** A complete one. */
  find(sandboxId: SandboxId, id: SnapshotId): SnapshotRecord | undefined
  /** The complete ones, newest first. */
  list(sandboxId: SandboxId): SnapshotRecord[]
  /** Those that never became complete, of all sandboxes. */
  incomplete(): SnapshotRecord[]
  /** They go with their sandbox as well. */
  remove(id: SnapshotId): void
}

type Row = { id: string; sandboxId: string; name: string; sizeBytes: number; createdAtMs: number }

export function snapshotRepository(database: Database): SnapshotRepository {
  const columns = 'id, sandbox_id AS sandboxId, name, size_bytes AS sizeBytes, created_at_ms AS createdAtMs'
  const begin = database.prepare<[Omit<SnapshotRecord, 'sizeBytes'>]>(
    `INSERT INTO snapshots (id, sandbox_id, name, size_bytes, created_at_ms)
     VALUES (:id, :sandboxId, :name, 0, :createdAtMs)`,
  )
  const complete = database.prepare<[number, string]>('UPDATE snapshots SET size_bytes = ? WHERE id = ?')
  const find = database.prepare<[string, string], Row>(
    `SELECT ${columns} FROM snapshots WHERE sandbox_id = ? AND id = ? AND size_bytes > 0`,
  )
  const list = database.prepare<[string], Row>(
    `SELECT ${columns} FROM snapshots WHERE sandbox_id = ? AND size_bytes > 0 ORDER BY created_at_ms DESC, rowid DESC`,
  )
  const incomplete = database.prepare<[], Row>(`SELECT ${columns} FROM snapshots WHERE size_bytes = 0`)
  const remove = database.prepare<[string]>('DELETE FROM snapshots WHERE id = ?')

  return {
    begin(record) {
      begin.run(record)
    },
    complete(id, sizeBytes) {
      complete.run(Math.max(1, Math.round(sizeBytes)), id)
    },
    find(sandboxId, id) {
      const row = find.get(sandboxId, id)
      return row && recordOf(row)
    },
    list: (sandboxId) => list.all(sandboxId).map(recordOf),
    incomplete: () => incomplete.all().map(recordOf),
    remove(id) {
      remove.run(id)
    },
  }
}

function recordOf({ id, sandboxId, ...row }: Row): SnapshotRecord {
  return { ...row, id: SnapshotId.parse(id), sandboxId: SandboxId.parse(sandboxId) }
}
