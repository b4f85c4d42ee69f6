import type { Database } from '#storage/sqlite/openDatabase.ts'
import { defineTable, flag, number, type Params, type RowOf, type StoredRow, text } from '#storage/table.ts'

const recordings = defineTable('recordings', {
  id: text(),
  terminalId: text(),
  sandboxId: text(),
  sandboxName: text(),
  command: text(),
  /** `deleted`: the content is removed, and the terminal is not recorded again. */
  state: text<'running' | 'ended' | 'cut' | 'deleted'>(),
  missed: flag(),
  /** Offset in the terminal's output up to which it is recorded. */
  cursor: number(),
  cols: number(),
  rows: number(),
  bytes: number(),
  durationMs: number(),
  startedAtMs: number(),
})
export type RecordingRow = RowOf<typeof recordings>

export type RecordingRepository = {
  add(row: RecordingRow): void
  save(row: RecordingRow): void
  find(id: string): RecordingRow | undefined
  ofTerminal(terminalId: string): RecordingRow | undefined
  /** Lists recordings, newest first, without deleted ones. */
  list(filter: RecordingFilter & { offset: number; limit: number }): RecordingRow[]
  sums(filter: RecordingFilter): { total: number; bytes: number }
  /** Lists recordings that may be continued. */
  listUnfinished(): RecordingRow[]
  /** Lists recordings that started before this time, including deleted ones. */
  listStartedBefore(atMs: number): RecordingRow[]
  /** Lists recordings, oldest first, without deleted ones. */
  oldest(limit: number): RecordingRow[]
  remove(id: string): void
}
type RecordingFilter = { sandboxId: string | undefined; terminalId: string | undefined }

const progress = ['state', 'missed', 'cursor', 'cols', 'rows', 'bytes', 'durationMs'] as const
const filtered = `state <> 'deleted' AND (@sandboxId IS NULL OR sandbox_id = @sandboxId)
  AND (@terminalId IS NULL OR terminal_id = @terminalId)`

export function createRecordingRepository(database: Database): RecordingRepository {
  const selection = `SELECT ${recordings.selection()} FROM recordings`
  const add = database.prepare<[Params<keyof RecordingRow>]>(recordings.insert)
  const save = database.prepare<[Params<keyof RecordingRow>]>(
    `UPDATE recordings SET ${recordings.assignments(['sandboxName', 'command', ...progress])} WHERE id = @id`,
  )
  const find = database.prepare<[Params<'id'>], StoredRow>(`${selection} WHERE id = @id`)
  const ofTerminal = database.prepare<[Params<'terminalId'>], StoredRow>(`${selection} WHERE terminal_id = @terminalId`)
  const list = database.prepare<[Params<keyof RecordingFilter | 'limit' | 'offset'>], StoredRow>(
    `${selection} WHERE ${filtered} ORDER BY started_at_ms DESC, id LIMIT @limit OFFSET @offset`,
  )
  const sums = database.prepare<[Params<keyof RecordingFilter>], { total: number; bytes: number }>(
    `SELECT count(*) AS total, coalesce(sum(bytes), 0) AS bytes FROM recordings WHERE ${filtered}`,
  )
  const unended = database.prepare<[], StoredRow>(`${selection} WHERE state = 'running'`)
  const startedBefore = database.prepare<[Params<'atMs'>], StoredRow>(`${selection} WHERE started_at_ms < @atMs`)
  const oldest = database.prepare<[Params<'limit'>], StoredRow>(
    `${selection} WHERE state <> 'deleted' ORDER BY started_at_ms, id LIMIT @limit`,
  )
  const remove = database.prepare<[Params<'id'>]>('DELETE FROM recordings WHERE id = @id')
  const filterParams = ({ sandboxId, terminalId }: RecordingFilter): Params<keyof RecordingFilter> => ({
    sandboxId: sandboxId ?? null,
    terminalId: terminalId ?? null,
  })
  const first = (row: StoredRow | undefined): RecordingRow | undefined => row && recordings.fromRow(row)
  return {
    add: (row) => void add.run(recordings.params(row)),
    save: (row) => void save.run(recordings.params(row)),
    find: (id) => first(find.get({ id })),
    ofTerminal: (terminalId) => first(ofTerminal.get({ terminalId })),
    list: ({ offset, limit, ...filter }) =>
      list.all({ ...filterParams(filter), offset, limit }).map(recordings.fromRow),
    sums: (filter) => sums.get(filterParams(filter)) ?? { total: 0, bytes: 0 },
    listUnfinished: () => unended.all().map(recordings.fromRow),
    listStartedBefore: (atMs) => startedBefore.all({ atMs }).map(recordings.fromRow),
    oldest: (limit) => oldest.all({ limit }).map(recordings.fromRow),
    remove: (id) => void remove.run({ id }),
  }
}
