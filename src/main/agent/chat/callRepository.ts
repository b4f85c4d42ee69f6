import type { ChatCall } from '#shared/contract/chatTools.ts'
import { toIsoTime } from '#shared/time.ts'
import type { Database } from '#storage/openDatabase.ts'
import { defineTable, nullable, number, type Params, type RowOf, type StoredRow, text } from '#storage/table.ts'

const callTable = defineTable('chat_calls', {
  id: text(),
  message: number(),
  step: number(),
  place: number(),
  tool: text(),
  /** Arguments as the model wrote them. */
  arguments: text(),
  /** JSON */
  extra: nullable(text()),
  state: text<ChatCall['state']>(),
  note: nullable(text()),
  intent_id: nullable(text()),
  output: nullable(text()),
  /** JSON */
  result: nullable(text()),
  /** JSON */
  before: nullable(text()),
  started_at_ms: number(),
  ended_at_ms: nullable(number()),
})
const stepTable = defineTable('chat_steps', {
  message: number(),
  step: number(),
  /** Offset of its calls in the text of the message, in characters. */
  at: number(),
  /** JSON that the provider needs back unchanged within the run. */
  carried: text(),
})
export type CallRow = RowOf<typeof callTable>
export type StepRow = RowOf<typeof stepTable>
export type CallChange = Pick<CallRow, 'state' | 'note' | 'intent_id' | 'output' | 'result' | 'before' | 'ended_at_ms'>

/** Tool calls, and the run steps that made them. */
export type CallRepository = {
  addStep(step: StepRow, calls: readonly CallRow[]): void
  change(id: string, change: CallChange): void
  /** In the order of messages and steps. */
  listSteps(messages: readonly number[]): StepRow[]
  listCalls(messages: readonly number[]): CallRow[]
  /** Calls that have not ended. */
  open(): CallRow[]
  copy(from: number, to: number, newId: () => string): void
}

export function createCallRepository(database: Database): CallRepository {
  const addStep = database.prepare<[Params<keyof StepRow>]>(stepTable.insert)
  const addCall = database.prepare<[Params<keyof CallRow>]>(callTable.insert)
  const result = ['state', 'note', 'intent_id', 'output', 'result', 'before', 'ended_at_ms'] as const
  const change = database.prepare<[Params<keyof CallChange | 'id'>]>(
    `UPDATE chat_calls SET ${callTable.assignments(result)} WHERE id = @id AND ended_at_ms IS NULL`,
  )
  const ofMessages = 'WHERE message IN (SELECT value FROM json_each(@messages))'
  const steps = database.prepare<[Params<'messages'>], StoredRow>(
    `SELECT ${stepTable.selection()} FROM chat_steps ${ofMessages} ORDER BY message, step`,
  )
  const calls = database.prepare<[Params<'messages'>], StoredRow>(
    `SELECT ${callTable.selection()} FROM chat_calls ${ofMessages} ORDER BY message, step, place`,
  )
  const open = database.prepare<[], StoredRow>(
    `SELECT ${callTable.selection()} FROM chat_calls WHERE ended_at_ms IS NULL`,
  )
  const add = (step: StepRow, stepCalls: readonly CallRow[]): void => {
    addStep.run(stepTable.params(step))
    for (const call of stepCalls) addCall.run(callTable.params(call))
  }
  const listSteps = (messages: readonly number[]): StepRow[] =>
    steps.all({ messages: JSON.stringify(messages) }).map(stepTable.fromRow)
  const listCalls = (messages: readonly number[]): CallRow[] =>
    calls.all({ messages: JSON.stringify(messages) }).map(callTable.fromRow)

  return {
    addStep: add,
    change: (id, changes) => void change.run(callTable.params({ ...changes, id })),
    listSteps,
    listCalls,
    open: () => open.all().map(callTable.fromRow),
    copy(from, to, newId) {
      const copied = listCalls([from])
      for (const step of listSteps([from])) {
        const stepCalls = copied.filter((call) => call.step === step.step)
        add(
          { ...step, message: to },
          stepCalls.map((call) => ({ ...call, message: to, id: newId() })),
        )
      }
    },
  }
}

export function callToWire(row: CallRow, offset: number): ChatCall {
  return {
    id: row.id,
    step: row.step,
    at: offset,
    tool: row.tool,
    arguments: row.arguments,
    state: row.state,
    note: row.note,
    intent_id: row.intent_id,
    live: null,
    output: row.output,
    result: row.result === null ? null : JSON.parse(row.result),
    before: row.before === null ? null : JSON.parse(row.before),
    started_at: toIsoTime(row.started_at_ms),
    ended_at: row.ended_at_ms === null ? null : toIsoTime(row.ended_at_ms),
  }
}
