import { ToolCallRecord, type ToolCallState } from '../../../shared/contract/toolCalls.ts'
import type { Database } from '../../storage/openDatabase.ts'

/** A call that outlives the request it came by. */
export type KeptCall = {
  record: ToolCallRecord
  /** Of the caller: it alone sees it. */
  holder: string
  /** JSON; gone once the call has ended. */
  given: string
  /** JSON: the caller as it was when it called. */
  caller: string
  /** Of holder, tool and arguments: the same call again finds the one that waits. */
  digest: string
}

export type ToolCallRepository = {
  add(call: KeptCall): void
  find(id: string): KeptCall | undefined
  ofIntent(intentId: string): KeptCall | undefined
  /** The one that waits. */
  waiting(digest: string): KeptCall | undefined
  inState(state: ToolCallState): KeptCall[]
  countOpen(holder: string): number
  /** @returns whether it was in that state */
  change(id: string, from: ToolCallState, change: Partial<ToolCallRecord> & { state: ToolCallState }): boolean
  forget(beforeMs: number): void
}

type Row = { id: string; holder: string; digest: string; record: string; given: string; caller: string }

export function toolCallRepository(database: Database): ToolCallRepository {
  const add = database.prepare<[string, string, string, string | null, string, string, string, string, number]>(
    'INSERT INTO tool_calls (id, holder, digest, intent_id, state, record, given, caller, created_at_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)',
  )
  const columns = 'SELECT id, holder, digest, record, given, caller FROM tool_calls'
  const find = database.prepare<[string], Row>(`${columns} WHERE id = ?`)
  const ofIntent = database.prepare<[string], Row>(`${columns} WHERE intent_id = ?`)
  const waiting = database.prepare<[string], Row>(`${columns} WHERE digest = ? AND state = 'waiting'`)
  const inState = database.prepare<[string], Row>(`${columns} WHERE state = ? ORDER BY created_at_ms, rowid`)
  const countOpen = database.prepare<[string], { count: number }>(
    `SELECT count(*) AS count FROM tool_calls WHERE holder = ? AND state IN ('waiting', 'running')`,
  )
  const change = database.prepare<[{ id: string; from: string; state: string; record: string; ended: 0 | 1 }]>(
    `UPDATE tool_calls SET state = @state, record = @record, given = CASE @ended WHEN 1 THEN '' ELSE given END
     WHERE id = @id AND state = @from`,
  )
  const forget = database.prepare<[number]>(
    `DELETE FROM tool_calls WHERE created_at_ms < ? AND state NOT IN ('waiting', 'running')`,
  )
  const kept = (row: Row | undefined): KeptCall | undefined => {
    if (!row) return undefined
    const { holder, digest, given, caller } = row
    return { holder, digest, given, caller, record: ToolCallRecord.parse(JSON.parse(row.record)) }
  }
  return {
    add({ record, holder, digest, given, caller }) {
      const createdAtMs = Date.parse(record.created_at)
      const { id, intent_id, state } = record
      add.run(id, holder, digest, intent_id, state, JSON.stringify(record), given, caller, createdAtMs)
    },
    find: (id) => kept(find.get(id)),
    ofIntent: (id) => kept(ofIntent.get(id)),
    waiting: (digest) => kept(waiting.get(digest)),
    inState: (state) => inState.all(state).flatMap((row) => kept(row) ?? []),
    countOpen: (holder) => countOpen.get(holder)?.count ?? 0,
    change(id, from, changed) {
      const call = kept(find.get(id))
      if (!call) return false
      const record = JSON.stringify({ ...call.record, ...changed })
      const ended = changed.state === 'waiting' || changed.state === 'running' ? 0 : 1
      return change.run({ id, from, state: changed.state, record, ended }).changes === 1
    },
    forget: (beforeMs) => void forget.run(beforeMs),
  }
}
