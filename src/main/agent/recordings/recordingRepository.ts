import type { Database } from '../../storage/openDatabase.ts'

export type RecordingRow = {
  id: string
  terminalId: string
  sandboxId: string
  sandboxName: string
  command: string
  /** `deleted`: what it showed is gone, and its terminal is not recorded again. */
  state: 'running' | 'ended' | 'cut' | 'deleted'
  missed: boolean
  /** Of the terminal's output: what was read so far. */
  cursor: number
  cols: number
  rows: number
  bytes: number
  durationMs: number
  startedAtMs: number
}

export type RecordingRepository = {
  add(row: RecordingRow): void
  save(row: RecordingRow): void
  find(id: string): RecordingRow | undefined
  ofTerminal(terminalId: string): RecordingRow | undefined
  /** Newest first, without the deleted ones. */
  list(wanted: Wanted & { offset: number; limit: number }): RecordingRow[]
  sums(wanted: Wanted): { total: number; bytes: number }
  /** What may be gone on with. */
  unended(): RecordingRow[]
  /** Older ones, the deleted ones among them. */
  startedBefore(atMs: number): RecordingRow[]
  /** Oldest first, without the deleted ones. */
  oldest(limit: number): RecordingRow[]
  remove(id: string): void
}
type Wanted = { sandboxId: string | undefined; terminalId: string | undefined }
type Row = Omit<RecordingRow, 'missed'> & { missed: number }

const columns = `id, terminal_id AS terminalId, sandbox_id AS sandboxId, sandbox_name AS sandboxName, command, state, missed,
  cursor, cols, rows, bytes, duration_ms AS durationMs, started_at_ms AS startedAtMs`
const wantedOnes = `state <> 'deleted' AND (@sandboxId IS NULL OR sandbox_id = @sandboxId)
  AND (@terminalId IS NULL OR terminal_id = @terminalId)`

export function recordingRepository(database: Database): RecordingRepository {
  const add = database.prepare<[object]>(
    `INSERT INTO recordings (id, terminal_id, sandbox_id, sandbox_name, command, state, missed, cursor, cols, rows, bytes,
       duration_ms, started_at_ms)
     VALUES (@id, @terminalId, @sandboxId, @sandboxName, @command, @state, @missed, @cursor, @cols, @rows, @bytes,
       @durationMs, @startedAtMs)`,
  )
  const save = database.prepare<[object]>(
    `UPDATE recordings SET sandbox_name = @sandboxName, command = @command, state = @state, missed = @missed,
       cursor = @cursor, cols = @cols, rows = @rows, bytes = @bytes, duration_ms = @durationMs WHERE id = @id`,
  )
  const find = database.prepare<[string], Row>(`SELECT ${columns} FROM recordings WHERE id = ?`)
  const ofTerminal = database.prepare<[string], Row>(`SELECT ${columns} FROM recordings WHERE terminal_id = ?`)
  const list = database.prepare<[object], Row>(
    `SELECT ${columns} FROM recordings WHERE ${wantedOnes} ORDER BY started_at_ms DESC, id LIMIT @limit OFFSET @offset`,
  )
  const sums = database.prepare<[object], { total: number; bytes: number }>(
    `SELECT count(*) AS total, coalesce(sum(bytes), 0) AS bytes FROM recordings WHERE ${wantedOnes}`,
  )
  const unended = database.prepare<[], Row>(`SELECT ${columns} FROM recordings WHERE state = 'running'`)
  const startedBefore = database.prepare<[number], Row>(`SELECT ${columns} FROM recordings WHERE started_at_ms < ?`)
  const oldest = database.prepare<[number], Row>(
    `SELECT ${columns} FROM recordings WHERE state <> 'deleted' ORDER BY started_at_ms, id LIMIT ?`,
  )
  const remove = database.prepare<[string]>('DELETE FROM recordings WHERE id = ?')
  const given = ({ sandboxId, terminalId }: Wanted) => ({
    sandboxId: sandboxId ?? null,
    terminalId: terminalId ?? null,
  })
  return {
    add: (row) => void add.run({ ...row, missed: row.missed ? 1 : 0 }),
    save: (row) => void save.run({ ...row, missed: row.missed ? 1 : 0 }),
    find: (id) => found(find.get(id)),
    ofTerminal: (id) => found(ofTerminal.get(id)),
    list: ({ offset, limit, ...wanted }) => list.all({ ...given(wanted), offset, limit }).map(recordingOf),
    sums: (wanted) => sums.get(given(wanted)) ?? { total: 0, bytes: 0 },
    unended: () => unended.all().map(recordingOf),
    startedBefore: (atMs) => startedBefore.all(atMs).map(recordingOf),
    oldest: (limit) => oldest.all(limit).map(recordingOf),
    remove: (id) => void remove.run(id),
  }
}

function found(row: Row | undefined): RecordingRow | undefined {
  return row && recordingOf(row)
}

function recordingOf({ missed, ...row }: Row): RecordingRow {
  return { ...row, missed: missed === 1 }
}
