import type { Asker, IntentState } from '../../../shared/contract/intents.ts'
import type { Database } from '../../storage/openDatabase.ts'
import type { StoredIntent } from './intentRepository.ts'

/** How many decided intents are kept, newest first. */
export type KeptIntents = { ofPerson: number; ofOneAsker: number; ofAllAskers: number }

/** All that is ever written about intents. Only `intentLifecycle.ts` may import it. */
export type IntentStateRepository = {
  add(stored: StoredIntent): void
  /** @returns false when it is in another state by now; nothing is changed then */
  change(stored: Pick<StoredIntent, 'record' | 'confirmed'>, from: IntentState): boolean
  /** Of intents that are neither decided nor signed, the state alone, which also a damaged row has. */
  open(): { id: string; state: IntentState }[]
  /** Changes the state of a row that cannot be read otherwise. */
  setState(id: string, change: { from: IntentState; to: IntentState }): void
  /** Moves the deadlines of waiting requests, in the column and in the record. */
  moveDeadlines(byMs: number): void
  /**
   * Of what is decided: all but the newest of this asker, and of those that the person asked for or decided. When that
   * is still too much, the oldest of whoever has the most go first.
   */
  forgetOld(asker: Asker, keep: KeptIntents): void
}

export function intentStateRepository(database: Database): IntentStateRepository {
  const add = database.prepare(
    `INSERT INTO intents (id, kind, state, asker_kind, asker_id, intent, record, created_at_ms, expires_at_ms, confirmed)
     VALUES (@id, @kind, @state, @askerKind, @askerId, @intent, @record, @createdAtMs, @expiresAtMs, @confirmed)`,
  )
  const change = database.prepare<[{ id: string; from: string; to: string; record: string; confirmed: 0 | 1 }]>(
    'UPDATE intents SET state = @to, record = @record, confirmed = @confirmed WHERE id = @id AND state = @from',
  )
  const open = database.prepare<[], { id: string; state: IntentState }>(
    "SELECT id, state FROM intents WHERE state IN ('waiting', 'approved')",
  )
  const setState = database.prepare<[{ id: string; from: string; to: string }]>(
    'UPDATE intents SET state = @to WHERE id = @id AND state = @from',
  )
  const moveDeadlines = database.prepare<{ byMs: number }>(
    `UPDATE intents SET expires_at_ms = expires_at_ms + @byMs, record = json_set(record, '$.expires_at',
       strftime('%Y-%m-%dT%H:%M:%fZ', (expires_at_ms + @byMs) / 1000.0, 'unixepoch'))
     WHERE state = 'waiting'`,
  )
  const decided = "state NOT IN ('waiting', 'approved')"
  const forget = database.prepare<[string, number]>(
    `DELETE FROM intents WHERE rowid IN
       (SELECT rowid FROM intents WHERE ${decided} AND kept_with = ?
        ORDER BY created_at_ms DESC, rowid DESC LIMIT -1 OFFSET ?)`,
  )
  const countOfAskers = database.prepare<[], { count: number }>(
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
  return {
    moveDeadlines: (byMs) => void moveDeadlines.run({ byMs: Math.round(byMs) }),
    add({ intent, record, confirmed }) {
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
        confirmed: confirmed ? 1 : 0,
      })
    },
    change({ record, confirmed }, from) {
      const { id, state: to } = record
      return change.run({ id, from, to, record: JSON.stringify(record), confirmed: confirmed ? 1 : 0 }).changes === 1
    },
    open: () => open.all(),
    setState(id, given) {
      setState.run({ id, ...given })
    },
    forgetOld({ kind, id }, { ofPerson, ofOneAsker, ofAllAskers }) {
      forget.run('person', ofPerson)
      if (kind !== 'person') forget.run(`${kind} ${id}`, ofOneAsker)
      if ((countOfAskers.get()?.count ?? 0) > ofAllAskers) forgetOfMost.run(ofAllAskers)
    },
  }
}
