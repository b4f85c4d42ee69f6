import type { SandboxId, UploadId } from '#shared/ids.ts'
import { defineStatement, type Query, type Transaction } from '#storage/store.ts'
import { defineTable, flag, nullable, number, type Params, type RowOf, text } from '#storage/table.ts'

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

const selection = `SELECT ${uploads.selection()} FROM uploads`
export const uploadStatements = {
  add: defineStatement<Params<keyof UploadRecord>>(uploads.insert),
  find: defineStatement<Params<'id' | 'sandboxId'>>(`${selection} WHERE id = @id AND sandbox_id = @sandboxId`).withRows(
    uploads.fromRow,
  ),
  countOpen: defineStatement<Params<'sandboxId'>>(
    'SELECT count(*) AS count FROM uploads WHERE sandbox_id = @sandboxId AND complete = 0',
  ).withRows((row) => Number(row.count)),
  update: defineStatement<Params<'id' | 'received' | 'complete' | 'touchedAtMs' | 'expected'>>(
    `UPDATE uploads SET received = @received, complete = @complete, touched_at_ms = @touchedAtMs
      WHERE id = @id AND received = @expected AND complete = 0`,
  ),
  remove: defineStatement<Params<'id'>>('DELETE FROM uploads WHERE id = @id'),
  findStale: defineStatement<Params<'sinceMs'>>(`${selection} WHERE touched_at_ms < @sinceMs`).withRows(
    uploads.fromRow,
  ),
}

export const uploadRepository = {
  async add(tx: Transaction, record: UploadRecord): Promise<void> {
    await tx.run(uploadStatements.add, uploads.params(record))
  },
  find(query: Query, sandboxId: SandboxId, id: UploadId): Promise<UploadRecord | undefined> {
    return query.first(uploadStatements.find, { id, sandboxId })
  },
  async countOpen(query: Query, sandboxId: SandboxId): Promise<number> {
    return (await query.first(uploadStatements.countOpen, { sandboxId })) ?? 0
  },
  /**
   * Updates `received`, `complete` and `touchedAtMs` of an incomplete upload.
   * @param expected `received` before the change
   * @returns false if the upload was removed or has changed
   */
  async update(tx: Transaction, record: UploadRecord, expected: number): Promise<boolean> {
    const { id, received, complete, touchedAtMs } = record
    const params = uploads.params({ id, received, complete, touchedAtMs })
    return (await tx.run(uploadStatements.update, { ...params, expected })) === 1
  },
  async remove(tx: Transaction, id: UploadId): Promise<void> {
    await tx.run(uploadStatements.remove, { id })
  },
  /** Finds uploads that were last touched before this time. */
  findStale(query: Query, sinceMs: number): Promise<UploadRecord[]> {
    return query.all(uploadStatements.findStale, { sinceMs })
  },
}
