import type { ChatCall } from '../../../shared/contract/chatTools.ts'
import { isoTime } from '../../../shared/time.ts'
import type { Database } from '../../storage/openDatabase.ts'

export type CallRow = {
  id: string
  message: number
  step: number
  place: number
  tool: string
  arguments: string
  /** JSON */
  extra: string | null
  state: ChatCall['state']
  note: string | null
  intent_id: string | null
  output: string | null
  /** JSON */
  result: string | null
  /** JSON */
  before: string | null
  started_at_ms: number
  ended_at_ms: number | null
}
export type StepRow = { message: number; step: number; at: number; carried: string }
export type CallChange = Pick<CallRow, 'state' | 'note' | 'intent_id' | 'output' | 'result' | 'before' | 'ended_at_ms'>

/** Calls of tools, and the steps of the answers that made them. */
export type CallRepository = {
  addStep(step: StepRow, calls: readonly CallRow[]): void
  change(id: string, change: CallChange): void
  /** In their order. */
  stepsOf(messages: readonly number[]): StepRow[]
  callsOf(messages: readonly number[]): CallRow[]
  /** Those without an end. */
  open(): CallRow[]
  copy(from: number, to: number, newId: () => string): void
}

const callFields = [
  'id',
  'message',
  'step',
  'place',
  'tool',
  'arguments',
  'extra',
  'state',
  'note',
  'intent_id',
  'output',
  'result',
  'before',
  'started_at_ms',
  'ended_at_ms',
] as const

export function callRepository(database: Database): CallRepository {
  const addStep = database.prepare<[StepRow]>('INSERT INTO chat_steps VALUES (@message, @step, @at, @carried)')
  const addCall = database.prepare<[CallRow]>(
    `INSERT INTO chat_calls (${callFields.join(', ')}) VALUES (${callFields.map((it) => `@${it}`).join(', ')})`,
  )
  const change = database.prepare<[CallChange & { id: string }]>(
    `UPDATE chat_calls SET state = @state, note = @note, intent_id = @intent_id, output = @output, result = @result,
       before = @before, ended_at_ms = @ended_at_ms WHERE id = @id AND ended_at_ms IS NULL`,
  )
  const steps = database.prepare<[string], StepRow>(
    'SELECT * FROM chat_steps WHERE message IN (SELECT value FROM json_each(?)) ORDER BY message, step',
  )
  const calls = database.prepare<[string], CallRow>(
    'SELECT * FROM chat_calls WHERE message IN (SELECT value FROM json_each(?)) ORDER BY message, step, place',
  )
  const open = database.prepare<[], CallRow>('SELECT * FROM chat_calls WHERE ended_at_ms IS NULL')
  const add = (step: StepRow, made: readonly CallRow[]): void => {
    addStep.run(step)
    for (const call of made) addCall.run(call)
  }
  const callsOf = (messages: readonly number[]): CallRow[] => calls.all(JSON.stringify(messages))

  return {
    addStep: add,
    change: (id, changed) => void change.run({ id, ...changed }),
    stepsOf: (messages) => steps.all(JSON.stringify(messages)),
    callsOf,
    open: () => open.all(),
    copy(from, to, newId) {
      const made = callsOf([from])
      for (const step of steps.all(JSON.stringify([from]))) {
        const own = made.filter((it) => it.step === step.step)
        add(
          { ...step, message: to },
          own.map((it) => ({ ...it, message: to, id: newId() })),
        )
      }
    },
  }
}

export function toldCall(row: CallRow, at: number): ChatCall {
  return {
    id: row.id,
    step: row.step,
    at,
    tool: row.tool,
    arguments: row.arguments,
    state: row.state,
    note: row.note,
    intent_id: row.intent_id,
    live: null,
    output: row.output,
    result: row.result === null ? null : JSON.parse(row.result),
    before: row.before === null ? null : JSON.parse(row.before),
    started_at: isoTime(row.started_at_ms),
    ended_at: row.ended_at_ms === null ? null : isoTime(row.ended_at_ms),
  }
}
