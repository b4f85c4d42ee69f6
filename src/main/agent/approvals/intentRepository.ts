import { Intent, IntentRecord, type IntentState, type Requester } from '#shared/contract/intents.ts'
import type { Database } from '#storage/sqlite/openDatabase.ts'
import { defineTable, flag, json, number, type Params, type RowOf, type StoredRow, text } from '#storage/table.ts'

export const intentTable = defineTable('intents', {
  id: text(),
  kind: text<Intent['kind']>(),
  state: text<IntentState>(),
  requesterKind: text<Requester['kind']>(),
  requesterId: text(),
  /** Complete request, as signed. */
  intent: json(Intent.parse),
  /** Not validated on read, because its state may be older than that of the column. */
  record: json<IntentRecord>(),
  createdAtMs: number(),
  expiresAtMs: number(),
  /** Whether the user confirmed the approval outside of the window. */
  confirmed: flag(),
})

export type StoredIntent = Pick<RowOf<typeof intentTable>, 'intent' | 'record' | 'confirmed'>

/** Reads intents, which only the lifecycle writes. Rows that cannot be parsed are skipped and never signed. */
export type IntentRepository = {
  find(id: string): StoredIntent | undefined
  /** Newest first. */
  list(filter: { state?: IntentState | undefined; limit: number }): IntentRecord[]
  /** Oldest first. */
  inState(state: IntentState): IntentRecord[]
  /** Counts intents that are neither decided nor signed: all, or those of one requester. */
  countOpen(requester?: Requester): number
  countWaiting(): number
  /** Waiting intents whose deadline has passed, ordered by deadline. */
  listExpired(nowMs: number): IntentRecord[]
  nextExpiryMs(): number | undefined
}

type Count = { count: number }

export function createIntentRepository(database: Database): IntentRepository {
  const selection = `SELECT ${intentTable.selection()} FROM intents`
  const find = database.prepare<[Params<'id'>], StoredRow>(`${selection} WHERE id = @id`)
  const list = database.prepare<[Params<'state' | 'limit'>], StoredRow>(
    `${selection} WHERE @state IS NULL OR state = @state ORDER BY created_at_ms DESC, rowid DESC LIMIT @limit`,
  )
  const inState = database.prepare<[Params<'state'>], StoredRow>(
    `${selection} WHERE state = @state ORDER BY created_at_ms, rowid`,
  )
  const open = "state IN ('waiting', 'approved')"
  const countOpen = database.prepare<[], Count>(`SELECT count(*) AS count FROM intents WHERE ${open}`)
  const countOpenOf = database.prepare<[Params<'kind' | 'id'>], Count>(
    `SELECT count(*) AS count FROM intents WHERE ${open} AND requester_kind = @kind AND requester_id = @id`,
  )
  const countWaiting = database.prepare<[], Count>(`SELECT count(*) AS count FROM intents WHERE state = 'waiting'`)
  const expired = database.prepare<[Params<'nowMs'>], StoredRow>(
    `${selection} WHERE state = 'waiting' AND expires_at_ms <= @nowMs ORDER BY expires_at_ms`,
  )
  const nextExpiry = database.prepare<[], { atMs: number | null }>(
    `SELECT min(expires_at_ms) AS atMs FROM intents WHERE state = 'waiting'`,
  )
  const parseRecords = (rows: readonly StoredRow[]): IntentRecord[] =>
    rows.flatMap((row) => parseRow(row)?.record ?? [])

  return {
    find: (id) => parseRow(find.get({ id })),
    list: ({ state, limit }) => parseRecords(list.all({ state: state ?? null, limit })),
    inState: (state) => parseRecords(inState.all({ state })),
    countOpen: (requester) =>
      (requester ? countOpenOf.get({ kind: requester.kind, id: requester.id }) : countOpen.get())?.count ?? 0,
    countWaiting: () => countWaiting.get()?.count ?? 0,
    listExpired: (nowMs) => parseRecords(expired.all({ nowMs })),
    nextExpiryMs: () => nextExpiry.get()?.atMs ?? undefined,
  }
}

function parseRow(row: StoredRow | undefined): StoredIntent | undefined {
  const stored = intentTable.tryFromRow(row)
  if (!stored) return undefined
  const { intent, state, confirmed } = stored
  // The column determines the state, because a row that failed while damaged contains an older record.
  const record = IntentRecord.safeParse({ ...stored.record, state }).data
  return record && { intent, record, confirmed }
}
