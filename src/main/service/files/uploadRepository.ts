import type { SandboxId, UploadId } from '#shared/ids.ts'
import type { Database } from '#storage/sqlite/openDatabase.ts'
import { defineTable, flag, nullable, number, type Params, type RowOf, type StoredRow, text } from '#storage/table.ts'

const uploads = defineTable('uploads', {
  id: text<UploadId>(),
  sandboxId: text<SandboxId>(),
  path: text(),
  /** Target of the upload: `path`, or the target of a link at `path`. */
  place: text(),
  /** File that holds the received bytes. */
  part: text(),
  size: number(),
  received: number(),
  replaces: flag(),
  ifVersion: nullable(text()),
  sha256: nullable(text()),
  modifiedAtMs: nullable(number()),
  complete: flag(),
  touchedAtMs: number(),
})
export type UploadRecord = RowOf<typeof uploads>

export type UploadRepository = {
  add(record: UploadRecord): void
  find(sandboxId: SandboxId, id: UploadId): UploadRecord | undefined
  countOpen(sandboxId: SandboxId): number
  /** Updates `received`, `complete` and `touchedAtMs`. */
  update(record: UploadRecord): void
  remove(id: UploadId): void
  /** Finds uploads that were last touched before this time. */
  findStale(sinceMs: number): UploadRecord[]
}

export function createUploadRepository(database: Database): UploadRepository {
  const selection = `SELECT ${uploads.selection()} FROM uploads`
  const add = database.prepare<[Params<keyof UploadRecord>]>(uploads.insert)
  const find = database.prepare<[Params<'id' | 'sandboxId'>], StoredRow>(
    `${selection} WHERE id = @id AND sandbox_id = @sandboxId`,
  )
  const count = database.prepare<[Params<'sandboxId'>], { count: number }>(
    'SELECT count(*) AS count FROM uploads WHERE sandbox_id = @sandboxId AND complete = 0',
  )
  const update = database.prepare<[Params<'id' | 'received' | 'complete' | 'touchedAtMs'>]>(
    'UPDATE uploads SET received = @received, complete = @complete, touched_at_ms = @touchedAtMs WHERE id = @id',
  )
  const remove = database.prepare<[Params<'id'>]>('DELETE FROM uploads WHERE id = @id')
  const untouched = database.prepare<[Params<'sinceMs'>], StoredRow>(`${selection} WHERE touched_at_ms < @sinceMs`)

  return {
    add: (record) => void add.run(uploads.params(record)),
    find(sandboxId, id) {
      const row = find.get({ id, sandboxId })
      return row && uploads.fromRow(row)
    },
    countOpen: (sandboxId) => count.get({ sandboxId })?.count ?? 0,
    update: ({ id, received, complete, touchedAtMs }) =>
      void update.run(uploads.params({ id, received, complete, touchedAtMs })),
    remove: (id) => void remove.run({ id }),
    findStale: (sinceMs) => untouched.all({ sinceMs }).map(uploads.fromRow),
  }
}
