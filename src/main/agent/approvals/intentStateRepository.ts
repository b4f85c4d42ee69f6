import type { IntentState, Requester } from '#shared/contract/intents.ts'
import type { Database } from '#storage/sqlite/openDatabase.ts'
import type { Params, RowOf } from '#storage/table.ts'
import { intentTable, type StoredIntent } from './intentRepository.ts'

/** Maximum numbers of decided intents. The newest ones are retained. */
export type IntentRetention = { ofPerson: number; ofOneRequester: number; ofAllRequesters: number }

/** Writes intents. Only `intentLifecycle.ts` may import it. */
export type IntentStateRepository = {
  add(stored: StoredIntent): void
  /** @returns false, without a change, if the intent is no longer in the state `from` */
  change(stored: Pick<StoredIntent, 'record' | 'confirmed'>, from: IntentState): boolean
  /** Returns intents that are neither decided nor signed, including damaged rows. */
  open(): { id: string; state: IntentState }[]
  /** Changes the state of a row, even if the row is damaged. */
  setState(id: string, change: { from: IntentState; to: IntentState }): void
  /** Moves the deadlines of waiting requests in both the column and the record. */
  moveDeadlines(byMs: number): void
  /**
   * Removes decided intents except the newest of this requester, and the newest that the user submitted or decided. If
   * too many remain, removes the oldest of the requesters with the most intents.
   */
  forgetOld(requester: Requester, keep: IntentRetention): void
}

/** `OFFSET` needs a `LIMIT` in SQLite. */
const noLimit = Number.MAX_SAFE_INTEGER

export function createIntentStateRepository(database: Database): IntentStateRepository {
  const add = database.prepare<[Params<keyof RowOf<typeof intentTable>>]>(intentTable.insert)
  const change = database.prepare<[Params<'id' | 'from' | 'state' | 'record' | 'confirmed'>]>(
    `UPDATE intents SET ${intentTable.assignments(['state', 'record', 'confirmed'])} WHERE id = @id AND state = @from`,
  )
  const open = database.prepare<[], { id: string; state: IntentState }>(
    "SELECT id, state FROM intents WHERE state IN ('waiting', 'approved')",
  )
  const setState = database.prepare<[Params<'id' | 'from' | 'to'>]>(
    'UPDATE intents SET state = @to WHERE id = @id AND state = @from',
  )
  const moveDeadlines = database.prepare<[Params<'byMs'>]>(
    `UPDATE intents SET expires_at_ms = expires_at_ms + @byMs, record = json_set(record, '$.expires_at',
       strftime('%Y-%m-%dT%H:%M:%fZ', (expires_at_ms + @byMs) / 1000.0, 'unixepoch'))
     WHERE state = 'waiting'`,
  )
  const decided = "state NOT IN ('waiting', 'approved')"
  const forget = database.prepare<[Params<'retainedWith' | 'offset'>]>(
    `DELETE FROM intents WHERE rowid IN
       (SELECT rowid FROM intents WHERE ${decided} AND kept_with = @retainedWith
        ORDER BY created_at_ms DESC, rowid DESC LIMIT ${noLimit} OFFSET @offset)`,
  )
  const countOfRequesters = database.prepare<[], { count: number }>(
    `SELECT count(*) AS count FROM intents WHERE ${decided} AND kept_with <> 'person'`,
  )
  const forgetOfLargest = database.prepare<[Params<'offset'>]>(
    `DELETE FROM intents WHERE rowid IN
       (SELECT row FROM
          (SELECT rowid AS row, created_at_ms,
             row_number() OVER (PARTITION BY kept_with ORDER BY created_at_ms DESC, rowid DESC) AS position
           FROM intents WHERE ${decided} AND kept_with <> 'person')
        ORDER BY position, created_at_ms DESC LIMIT ${noLimit} OFFSET @offset)`,
  )
  return {
    moveDeadlines: (byMs) => void moveDeadlines.run({ byMs: Math.round(byMs) }),
    add({ intent, record, confirmed }) {
      const { id, kind, state, requester } = record
      add.run(
        intentTable.params({
          ...{ id, kind, state, intent, record, confirmed },
          requesterKind: requester.kind,
          requesterId: requester.id,
          createdAtMs: Date.parse(record.created_at),
          expiresAtMs: Date.parse(record.expires_at),
        }),
      )
    },
    change({ record, confirmed }, from) {
      const { id, state } = record
      return change.run({ ...intentTable.params({ id, state, record, confirmed }), from }).changes === 1
    },
    open: () => open.all(),
    setState: (id, { from, to }) => void setState.run({ id, from, to }),
    forgetOld({ kind, id }, { ofPerson, ofOneRequester, ofAllRequesters }) {
      forget.run({ retainedWith: 'person', offset: ofPerson })
      if (kind !== 'person') forget.run({ retainedWith: `${kind} ${id}`, offset: ofOneRequester })
      if ((countOfRequesters.get()?.count ?? 0) > ofAllRequesters) forgetOfLargest.run({ offset: ofAllRequesters })
    },
  }
}
