import { SandboxId, UploadId } from '../../../shared/ids.ts'
import type { Database } from '../../storage/openDatabase.ts'

export type UploadRecord = {
  id: UploadId
  sandboxId: SandboxId
  path: string
  /** Where it goes: `path`, or what a link there leads to. */
  place: string
  /** What came is kept there. */
  part: string
  size: number
  received: number
  replaces: boolean
  ifVersion: string | null
  sha256: string | null
  modifiedAtMs: number | null
  complete: boolean
  touchedAtMs: number
}

export type UploadRepository = {
  add(record: UploadRecord): void
  find(sandboxId: SandboxId, id: UploadId): UploadRecord | undefined
  countOpen(sandboxId: SandboxId): number
  /** Changes `received`, `complete` and `touchedAtMs`. */
  update(record: UploadRecord): void
  remove(id: UploadId): void
  /** Not touched since. */
  untouched(sinceMs: number): UploadRecord[]
}

type Row = Omit<UploadRecord, 'id' | 'sandboxId' | 'replaces' | 'complete'> & {
  id: string
  sandboxId: string
  replaces: number
  complete: number
}

export function uploadRepository(database: Database): UploadRepository {
  const columns = `id, sandbox_id AS sandboxId, path, place, part, size, received, replaces, if_version AS ifVersion, sha256,
    modified_at_ms AS modifiedAtMs, complete, touched_at_ms AS touchedAtMs`
  const add = database.prepare<[Row]>(
    `INSERT INTO uploads (id, sandbox_id, path, place, part, size, received, replaces, if_version, sha256, modified_at_ms,
       complete, touched_at_ms)
     VALUES (:id, :sandboxId, :path, :place, :part, :size, :received, :replaces, :ifVersion, :sha256, :modifiedAtMs,
       :complete, :touchedAtMs)`,
  )
  const find = database.prepare<[string, string], Row>(`SELECT ${columns} FROM uploads WHERE id = ? AND sandbox_id = ?`)
  const count = database.prepare<[string], { count: number }>(
    'SELECT count(*) AS count FROM uploads WHERE sandbox_id = ? AND complete = 0',
  )
  const update = database.prepare<[number, number, number, string]>(
    'UPDATE uploads SET received = ?, complete = ?, touched_at_ms = ? WHERE id = ?',
  )
  const remove = database.prepare<[string]>('DELETE FROM uploads WHERE id = ?')
  const untouched = database.prepare<[number], Row>(`SELECT ${columns} FROM uploads WHERE touched_at_ms < ?`)

  return {
    add(record) {
      add.run({ ...record, replaces: Number(record.replaces), complete: Number(record.complete) })
    },
    find(sandboxId, id) {
      const row = find.get(id, sandboxId)
      return row && recordOf(row)
    },
    countOpen: (sandboxId) => count.get(sandboxId)?.count ?? 0,
    update({ received, complete, touchedAtMs, id }) {
      update.run(received, Number(complete), touchedAtMs, id)
    },
    remove(id) {
      remove.run(id)
    },
    untouched: (sinceMs) => untouched.all(sinceMs).map(recordOf),
  }
}

function recordOf(row: Row): UploadRecord {
  return {
    ...row,
    id: UploadId.parse(row.id),
    sandboxId: SandboxId.parse(row.sandboxId),
    replaces: row.replaces === 1,
    complete: row.complete === 1,
  }
}
