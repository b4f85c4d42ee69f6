import { parseJson } from '#platform/parsing/boundedJson.ts'
import { chatToolLimits } from '#shared/contract/chatTools.ts'
import type { LocalEvents } from '../base/localEvents.ts'
import type { ToolCaller } from '../base/toolCaller.ts'
import type { RunWriter } from './activeRuns.ts'
import { type CallRow, callToWire } from './callRepository.ts'
import type { ChatStore } from './chatStore.ts'
import type { StoredConversation } from './conversationRepository.ts'
import { toChatName } from './conversationTitle.ts'
import type { AccumulatedCall, ProviderState } from './toolCallAccumulator.ts'
import { type CallEnd, type CallUpdate, createFailedCall, type ToolCallRunner } from './toolCallRunner.ts'

type Dependencies = {
  store: ChatStore
  calls: ToolCallRunner
  publish: LocalEvents['publish']
  newId: () => string
  now: () => number
}
export type ToolCallStep = { step: number; calls: readonly AccumulatedCall[]; carried: ProviderState }
type CallLocation = { conversation: StoredConversation; writer: RunWriter }

/** Interval of progress updates, shorter than users can perceive in text. */
const updateIntervalMs = 100
/** Characters that some providers do not accept in names. */
const unsupportedNameCharacters = /[^A-Za-z0-9_-]/g

/** Stores the calls of a step. Call it in a transaction, before any of them runs. */
export function storeCalls(
  { store, newId, now }: Dependencies,
  { step, calls, carried }: ToolCallStep,
  { writer }: CallLocation,
): CallRow[] {
  const { number, text } = writer.run
  const rows = calls.map(
    (call, index): CallRow => ({
      id: `call_${newId()}`,
      message: number,
      step,
      place: index,
      tool: call.name.replace(unsupportedNameCharacters, '_').slice(0, 64) || 'unnamed',
      arguments: call.arguments.slice(0, chatToolLimits.argumentCharacters).toWellFormed(),
      extra: call.extra === undefined ? null : JSON.stringify(call.extra),
      state: 'running',
      note: null,
      intent_id: null,
      output: null,
      result: null,
      before: null,
      started_at_ms: now(),
      ended_at_ms: null,
    }),
  )
  store.calls.addStep({ message: number, step, at: text.length, carried: JSON.stringify(carried) }, rows)
  return rows
}

/** Runs all calls concurrently. Each result is stored as soon as the call ends. Never rejects. */
export async function runCalls(
  { store, calls, publish, now }: Dependencies,
  rows: readonly CallRow[],
  { conversation, writer }: CallLocation,
  refusal: string | undefined,
): Promise<void> {
  const offset = writer.run.text.length
  const caller = createCaller(conversation)
  const save = (row: CallRow, live: string | null = null): CallRow => {
    store.calls.change(row.id, row)
    writer.setCall({ ...callToWire(row, offset), live })
    return row
  }
  await Promise.all(
    rows.map(async (row, index) => {
      let current = save(row)
      let live: string | null = null
      let timer: NodeJS.Timeout | undefined
      /** Publishes output since the last update. */
      const publishSoon = (): void => {
        timer ??= setTimeout(() => {
          timer = undefined
          writer.setCall({ ...callToWire(current, offset), live })
        }, updateIntervalMs)
      }
      const onUpdate = (update: CallUpdate): void => {
        current = save({ ...current, ...update }, live)
      }
      const run = (): Promise<CallEnd> => {
        const call = { name: row.tool, arguments: row.arguments, extra: undefined }
        const output = (text: string): void => {
          live = `${live ?? ''}${text}`.slice(-chatToolLimits.liveCharacters).toWellFormed()
          publishSoon()
        }
        return calls.run(call, { caller, signal: writer.signal, isStopped: writer.isStopped, update: onUpdate, output })
      }
      const tooMany = `Not run: at most ${chatToolLimits.callsOfStep} calls at once.`
      const reason = refusal ?? (index >= chatToolLimits.callsOfStep ? tooMany : undefined)
      const end = reason === undefined ? await run() : createFailedCall(reason)
      clearTimeout(timer)
      if (end.state === 'done') announceTerminalInput(row, conversation, publish)
      const state = end.state === 'stopped' && !writer.isStopped() ? 'interrupted' : end.state
      save({ ...current, ...end, state, note: current.note, ended_at_ms: now() })
    }),
  )
}

/** Announces terminal input, so that viewers of the terminal see which chat typed. */
function announceTerminalInput(
  { tool, arguments: argumentText }: CallRow,
  { id, title }: StoredConversation,
  publish: Dependencies['publish'],
): void {
  if (tool !== 'sandbox_pty_write') return
  const { session_id } = parseJson(argumentText) as { session_id?: unknown } // arguments are always an object
  if (typeof session_id === 'string') publish({ type: 'terminal.typed', session_id, conversation_id: id, title })
}

/** Returns a conversation as a caller of tools. */
export function createCaller({ id, title }: StoredConversation): ToolCaller {
  return { requester: { kind: 'tool', id, name: toChatName(title) } }
}
