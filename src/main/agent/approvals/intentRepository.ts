import { type Asker, Intent, IntentRecord, type IntentState } from '../../../shared/contract/intents.ts'
import type { Database } from '../../storage/openDatabase.ts'

/** What was asked, complete, and what is known of it. */
export type StoredIntent = {
  intent: Intent
  record: IntentRecord
  /** The person confirmed its approval where the window cannot draw. */
  confirmed: boolean
}

/** Reads intents. Only the lifecycle writes them. A row that cannot be understood is shown to nobody. */
export type IntentRepository = {
  find(id: string): StoredIntent | undefined
  /** Newest first. */
  list(filter: { state?: IntentState | undefined; limit: number }): IntentRecord[]
  /** Oldest first. */
  inState(state: IntentState): IntentRecord[]
  /** Neither decided nor signed: all of them, or those of one asker. */
  countOpen(asker?: Asker): number
  countWaiting(): number
  expired(nowMs: number): IntentRecord[]
  nextExpiryMs(): number | undefined
}

type Row = { state: string; intent: string; record: string; confirmed: 0 | 1 }
type Count = { count: number }

const columns = 'state, intent, record, confirmed'

export function intentRepository(database: Database): IntentRepository {
  const find = database.prepare<[string], Row>(`SELECT ${columns} FROM intents WHERE id = ?`)
  const list = database.prepare<[{ state: string | null; limit: number }], Row>(
    `SELECT ${columns} FROM intents WHERE @state IS NULL OR state = @state
     ORDER BY created_at_ms DESC, rowid DESC LIMIT @limit`,
  )
  const inState = database.prepare<[string], Row>(
    `SELECT ${columns} FROM intents WHERE state = ? ORDER BY created_at_ms, rowid`,
  )
  const open = "state IN ('waiting', 'approved')"
  const countOpen = database.prepare<[], Count>(`SELECT count(*) AS count FROM intents WHERE ${open}`)
  const countOpenOf = database.prepare<[string, string], Count>(
    `SELECT count(*) AS count FROM intents WHERE ${open} AND asker_kind = ? AND asker_id = ?`,
  )
  const countWaiting = database.prepare<[], Count>(`SELECT count(*) AS count FROM intents WHERE state = 'waiting'`)
  const expired = database.prepare<[number], Row>(
    `SELECT ${columns} FROM intents WHERE state = 'waiting' AND expires_at_ms <= ? ORDER BY expires_at_ms`,
  )
  const nextExpiry = database.prepare<[], { atMs: number | null }>(
    `SELECT min(expires_at_ms) AS atMs FROM intents WHERE state = 'waiting'`,
  )
  const records = (rows: readonly Row[]): IntentRecord[] => rows.flatMap(understood).map(({ record }) => record)

  return {
    find(id) {
      const row = find.get(id)
      return row && understood(row)[0]
    },
    list: ({ state, limit }) => records(list.all({ state: state ?? null, limit })),
    inState: (state) => records(inState.all(state)),
    countOpen: (asker) => (asker ? countOpenOf.get(asker.kind, asker.id) : countOpen.get())?.count ?? 0,
    countWaiting: () => countWaiting.get()?.count ?? 0,
    expired: (nowMs) => records(expired.all(nowMs)),
    nextExpiryMs: () => nextExpiry.get()?.atMs ?? undefined,
  }
}

function understood({ state, intent, record, confirmed }: Row): StoredIntent[] {
  try {
    // The column has the last word: a row that failed while it was damaged has an older record.
    const known = IntentRecord.safeParse({ ...JSON.parse(record), state })
    const asked = Intent.safeParse(JSON.parse(intent))
    if (!known.success || !asked.success) return []
    return [{ intent: asked.data, record: known.data, confirmed: confirmed === 1 }]
  } catch {
    return [] // not JSON: a damaged row is shown to nobody and never signed
  }
}
