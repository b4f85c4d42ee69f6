import { ToolCallRecord, type ToolCallState } from '#shared/contract/toolCalls.ts'
import type { Database } from '#storage/sqlite/openDatabase.ts'
import {
  defineTable,
  json,
  nullable,
  number,
  type Params,
  type RowOf,
  renameColumn,
  type StoredRow,
  text,
} from '#storage/table.ts'

const toolCalls = defineTable('tool_calls', {
  id: text(),
  /** Caller. The call is not visible to others. */
  holder: text(),
  /** Digest of caller, tool and arguments. An identical call finds the pending one. */
  digest: text(),
  intentId: nullable(text()),
  state: text<ToolCallState>(),
  record: json(ToolCallRecord.parse),
  /** Arguments as JSON. Empty once the call has ended. */
  argumentText: renameColumn('given', text()),
  /** Caller at the time of the call, as JSON. */
  caller: text(),
  createdAtMs: number(),
})
type CallRow = RowOf<typeof toolCalls>

/** Call that outlives its request. */
export type StoredCall = Pick<CallRow, 'record' | 'holder' | 'argumentText' | 'caller' | 'digest'>

export type ToolCallRepository = {
  add(call: StoredCall): void
  find(id: string): StoredCall | undefined
  ofIntent(intentId: string): StoredCall | undefined
  /** Returns the waiting call with this digest. */
  waiting(digest: string): StoredCall | undefined
  /** Lists calls in this state, oldest first. */
  inState(state: ToolCallState): StoredCall[]
  countOpen(holder: string): number
  /** @returns false if the call was not in state `from` */
  change(id: string, from: ToolCallState, change: Partial<ToolCallRecord> & { state: ToolCallState }): boolean
  /** Removes ended calls that were created before this time. */
  forget(beforeMs: number): void
}

export function createToolCallRepository(database: Database): ToolCallRepository {
  const selection = `SELECT ${toolCalls.selection()} FROM tool_calls`
  const add = database.prepare<[Params<keyof CallRow>]>(toolCalls.insert)
  const find = database.prepare<[Params<'id'>], StoredRow>(`${selection} WHERE id = @id`)
  const ofIntent = database.prepare<[Params<'intentId'>], StoredRow>(`${selection} WHERE intent_id = @intentId`)
  const waiting = database.prepare<[Params<'digest'>], StoredRow>(
    `${selection} WHERE digest = @digest AND state = 'waiting'`,
  )
  const inState = database.prepare<[Params<'state'>], StoredRow>(
    `${selection} WHERE state = @state ORDER BY created_at_ms, rowid`,
  )
  const countOpen = database.prepare<[Params<'holder'>], { count: number }>(
    `SELECT count(*) AS count FROM tool_calls WHERE holder = @holder AND state IN ('waiting', 'running')`,
  )
  const change = database.prepare<[Params<'id' | 'from' | 'state' | 'record' | 'ended'>]>(
    `UPDATE tool_calls SET ${toolCalls.assignments(['state', 'record'])},
       given = CASE @ended WHEN 1 THEN '' ELSE given END WHERE id = @id AND state = @from`,
  )
  const forget = database.prepare<[Params<'beforeMs'>]>(
    `DELETE FROM tool_calls WHERE created_at_ms < @beforeMs AND state NOT IN ('waiting', 'running')`,
  )
  const fromRow = (row: StoredRow): StoredCall => {
    const { record, holder, argumentText, caller, digest } = toolCalls.fromRow(row)
    return { record, holder, argumentText, caller, digest }
  }
  const first = (row: StoredRow | undefined): StoredCall | undefined => row && fromRow(row)
  return {
    add({ record, holder, digest, argumentText, caller }) {
      const { id, intent_id: intentId, state } = record
      const createdAtMs = Date.parse(record.created_at)
      add.run(toolCalls.params({ id, holder, digest, intentId, state, record, argumentText, caller, createdAtMs }))
    },
    find: (id) => first(find.get({ id })),
    ofIntent: (intentId) => first(ofIntent.get({ intentId })),
    waiting: (digest) => first(waiting.get({ digest })),
    inState: (state) => inState.all({ state }).map(fromRow),
    countOpen: (holder) => countOpen.get({ holder })?.count ?? 0,
    change(id, from, changes) {
      const call = first(find.get({ id }))
      if (!call) return false
      const { state } = changes
      const ended = state === 'waiting' || state === 'running' ? 0 : 1
      const record = { ...call.record, ...changes }
      return change.run({ ...toolCalls.params({ id, state, record }), from, ended }).changes === 1
    },
    forget: (beforeMs) => void forget.run({ beforeMs }),
  }
}
