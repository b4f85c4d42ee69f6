import { type Asker, Intent, IntentRecord, type IntentState } from '../../../shared/contract/intents.ts'
import type { Database } from '../../storage/openDatabase.ts'

/** What was asked, complete, and what is known of it. */
export type StoredIntent = { intent: Intent; record: IntentRecord; basis: IntentBasis }
/** On what its approval rests. */
export type IntentBasis = {
  /** The grant that was counted down for it. */
  grantId: string | null
  /** The person confirmed it where the window cannot draw. */
  confirmed: boolean
}
export type KeptIntents = { ofPerson: number; ofOneAsker: number; ofAllAskers: number }
export const noBasis: IntentBasis = { grantId: null, confirmed: false }

export type IntentRepository = {
  atomically<T>(work: () => T): T
  add(stored: StoredIntent): void
  find(id: string): StoredIntent | undefined
  /**
   * The basis stays as it is where none is given; inside a transaction where one is.
   * @returns false when it is in another state by now; nothing is changed then
   */
  change(record: IntentRecord, from: IntentState, basis?: IntentBasis): boolean
  /** Newest first. */
  list(filter: { state?: IntentState | undefined; limit: number }): IntentRecord[]
  /** Oldest first. */
  inState(state: IntentState): IntentRecord[]
  /** Neither decided nor signed: all of them, or those of one asker. */
  countOpen(asker?: Asker): number
  countWaiting(): number
  expired(nowMs: number): IntentRecord[]
  nextExpiryMs(): number | undefined
  /** What waits and cannot be understood is signed never. */
  setAsideDamaged(): void
  /**
   * Of what is decided: all but the newest of this asker, and of those that the person asked for or decided. Of more
   * than there is room for in all, first the oldest of who has the most.
   */
  forgetOld(asker: Asker, keep: KeptIntents): void
}

type Row = { intent: string; record: string; grantId: string | null; confirmed: 0 | 1 }
type Count = { count: number }

const columns = 'intent, record, grant_id AS grantId, confirmed'

export function intentRepository(database: Database): IntentRepository {
  const add = database.prepare(
    `INSERT INTO intents (id, kind, state, asker_kind, asker_id, intent, record, created_at_ms, expires_at_ms, grant_id, confirmed)
     VALUES (@id, @kind, @state, @askerKind, @askerId, @intent, @record, @createdAtMs, @expiresAtMs, @grantId, @confirmed)`,
  )
  const find = database.prepare<[string], Row>(`SELECT ${columns} FROM intents WHERE id = ?`)
  const change = database.prepare<[{ id: string; from: string; to: string; record: string }]>(
    'UPDATE intents SET state = @to, record = @record WHERE id = @id AND state = @from',
  )
  const rest = database.prepare<[string | null, 0 | 1, string]>(
    'UPDATE intents SET grant_id = ?, confirmed = ? WHERE id = ?',
  )
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
  const openOnes = database.prepare<[], Row & { id: string }>(`SELECT id, ${columns} FROM intents WHERE ${open}`)
  const setAside = database.prepare<[string]>("UPDATE intents SET state = 'failed' WHERE id = ?")
  const decided = "state NOT IN ('waiting', 'approved')"
  const forget = database.prepare<[string, number]>(
    `DELETE FROM intents WHERE rowid IN
       (SELECT rowid FROM intents WHERE ${decided} AND kept_with = ?
        ORDER BY created_at_ms DESC, rowid DESC LIMIT -1 OFFSET ?)`,
  )
  const countOfAskers = database.prepare<[], Count>(
    `SELECT count(*) AS count FROM intents WHERE ${decided} AND kept_with <> 'person'`,
  )
  const forgetOfMost = database.prepare<[number]>(
    `DELETE FROM intents WHERE rowid IN
       (SELECT row FROM
          (SELECT rowid AS row, created_at_ms,
             row_number() OVER (PARTITION BY kept_with ORDER BY created_at_ms DESC, rowid DESC) AS place
           FROM intents WHERE ${decided} AND kept_with <> 'person')
        ORDER BY place, created_at_ms DESC LIMIT -1 OFFSET ?)`,
  )
  const records = (rows: readonly Row[]): IntentRecord[] => rows.flatMap(understood).map(({ record }) => record)

  return {
    atomically: (work) => database.transaction(work).immediate(),
    add({ intent, record, basis }) {
      add.run({
        id: record.id,
        kind: record.kind,
        state: record.state,
        askerKind: record.asker.kind,
        askerId: record.asker.id,
        intent: JSON.stringify(intent),
        record: JSON.stringify(record),
        createdAtMs: Date.parse(record.created_at),
        expiresAtMs: Date.parse(record.expires_at),
        grantId: basis.grantId,
        confirmed: basis.confirmed ? 1 : 0,
      })
    },
    find(id) {
      const row = find.get(id)
      return row && understood(row)[0]
    },
    change(record, from, basis) {
      const { id, state: to } = record
      const changed = change.run({ id, from, to, record: JSON.stringify(record) }).changes === 1
      if (changed && basis) rest.run(basis.grantId, basis.confirmed ? 1 : 0, id)
      return changed
    },
    list: ({ state, limit }) => records(list.all({ state: state ?? null, limit })),
    inState: (state) => records(inState.all(state)),
    countOpen: (asker) => (asker ? countOpenOf.get(asker.kind, asker.id) : countOpen.get())?.count ?? 0,
    countWaiting: () => countWaiting.get()?.count ?? 0,
    expired: (nowMs) => records(expired.all(nowMs)),
    nextExpiryMs: () => nextExpiry.get()?.atMs ?? undefined,
    setAsideDamaged() {
      for (const row of openOnes.all()) if (understood(row).length === 0) setAside.run(row.id)
    },
    forgetOld({ kind, id }, { ofPerson, ofOneAsker, ofAllAskers }) {
      forget.run('person', ofPerson)
      if (kind !== 'person') forget.run(`${kind} ${id}`, ofOneAsker)
      if ((countOfAskers.get()?.count ?? 0) > ofAllAskers) forgetOfMost.run(ofAllAskers)
    },
  }
}

function understood({ intent, record, grantId, confirmed }: Row): StoredIntent[] {
  try {
    const known = IntentRecord.safeParse(JSON.parse(record))
    const asked = Intent.safeParse(JSON.parse(intent))
    if (!known.success || !asked.success) return []
    return [{ intent: asked.data, record: known.data, basis: { grantId, confirmed: confirmed === 1 } }]
  } catch {
    return [] // not JSON: a damaged row is shown to nobody and signed never
  }
}
