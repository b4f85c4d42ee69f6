import { AppError } from '#shared/appError.ts'
import type { IntentRecord } from '#shared/contract/intents.ts'
import { ToolCallId, type ToolCallRecord } from '#shared/contract/toolCalls.ts'
import type { ToolResult } from '#shared/contract/tools/tool.ts'
import { createEmitter } from '#shared/emitter.ts'
import { toIsoTime } from '#shared/time.ts'
import { waitFor } from '../base/waitFor.ts'
import type { StoredCall, ToolCallRepository } from './toolCallRepository.ts'
import { toFailureOutcome } from './toolOutcome.ts'

/** Calls that outlive their request, because they wait for the user or run longer than a client waits. */
export type PendingCalls = {
  /** Stores a call that waits for its intent. Must run in the transaction that stores the intent. */
  add(call: Omit<StoredCall, 'record'> & Pick<ToolCallRecord, 'tool' | 'sentence'>, intent: IntentRecord): void
  /** Registers a call that is already running. @returns its id */
  follow(
    call: Omit<StoredCall, 'record' | 'argumentText'> & Pick<ToolCallRecord, 'tool' | 'sentence'>,
    work: Promise<ToolResult>,
  ): string
  /** @throws AppError `tool/too-many` */
  assertCapacity(holder: string): void
  waiting(digest: string): ToolCallRecord | undefined
  /** Returns the waiting call of an intent. */
  ofIntent(intentId: string): ToolCallRecord | undefined
  /**
   * Waits until the call has ended or the time is up.
   * @throws AppError `tool/call-not-found`, also for a call of another caller
   */
  waitUntilSettled(
    id: string,
    options: { holder: string; waitMs: number; signal?: AbortSignal | undefined },
  ): Promise<ToolCallRecord>
  /** Handles the decision on an intent: runs the call if approved, otherwise ends it. */
  onDecision(intent: IntentRecord): void
  /** Ends calls that an earlier run interrupted. @param intentOf returns undefined if the intent was removed */
  start(intentOf: (id: string) => IntentRecord | undefined): void
  close(): void
}

type Options = {
  calls: ToolCallRepository
  /** Runs an approved call. */
  perform(call: StoredCall, signal: AbortSignal): Promise<ToolResult>
  /** Returns 24 random hexadecimal digits. */
  newId: () => string
  now: () => number
  /** Clock for the retention period. Defaults to `now`. */
  steadyMs?: () => number
}

const maxPending = 50
const retentionMs = 24 * 60 * 60 * 1000

export function createPendingCalls({ calls, perform, newId, now, steadyMs = now }: Options): PendingCalls {
  const ended = createEmitter<string>()
  const closing = new AbortController()

  const createRecord = (
    fields: Pick<ToolCallRecord, 'tool' | 'sentence' | 'state' | 'intent_id' | 'expires_at'>,
  ): ToolCallRecord => ({
    ...fields,
    id: ToolCallId.parse(`call_${newId()}`),
    result: null,
    error: null,
    hint: null,
    created_at: toIsoTime(now()),
  })
  const end = (
    id: string,
    from: 'waiting' | 'running',
    change: Partial<ToolCallRecord> & Pick<ToolCallRecord, 'state'>,
  ) => {
    if (calls.change(id, from, change)) ended.emit(id)
  }
  const finish = async (id: string, work: Promise<ToolResult>): Promise<void> => {
    try {
      const result = await work
      if (!closing.signal.aborted) end(id, 'running', { state: 'done', result: { ...result } })
    } catch (cause) {
      if (closing.signal.aborted) return // the next start records an unknown outcome
      const { sentence: error, hint } = toFailureOutcome(cause)
      end(id, 'running', { state: 'failed', error, hint })
    }
  }
  const requireOwn = (id: string, holder: string): ToolCallRecord => {
    const call = calls.find(id)
    if (!call || call.holder !== holder) {
      throw new AppError('tool/call-not-found', `There is no tool call ${id.slice(0, 64)}.`)
    }
    return call.record
  }

  return {
    add({ tool, sentence, ...fields }, intent) {
      const { id: intent_id, expires_at } = intent
      calls.add({ ...fields, record: createRecord({ tool, sentence, state: 'waiting', intent_id, expires_at }) })
    },
    follow({ tool, sentence, ...fields }, work) {
      const running = createRecord({ tool, sentence, state: 'running', intent_id: null, expires_at: null })
      calls.add({ ...fields, argumentText: '', record: running })
      void finish(running.id, work)
      return running.id
    },
    assertCapacity(holder) {
      calls.forget(steadyMs() - retentionMs)
      if (calls.countOpen(holder) < maxPending) return
      throw new AppError('tool/too-many', `${maxPending} of your calls are waiting or running.`, {
        retryAfterSeconds: 30,
      })
    },
    waiting: (digest) => calls.waiting(digest)?.record,
    ofIntent: (intentId) => calls.ofIntent(intentId)?.record,
    async waitUntilSettled(id, { holder, waitMs, signal }) {
      const { state } = requireOwn(id, holder)
      if (state === 'waiting' || state === 'running') {
        const subscribe = (listener: () => void) => ended.subscribe((endedId) => endedId === id && listener())
        await waitFor(subscribe, { waitMs, signals: [signal, closing.signal] })
      }
      return requireOwn(id, holder)
    },
    onDecision(intent) {
      const call = calls.ofIntent(intent.id)
      if (call?.record.state !== 'waiting' || intent.state === 'waiting' || intent.state === 'approved') return
      const { id } = call.record
      if (intent.state !== 'signed') {
        end(id, 'waiting', { state: 'denied', error: describeRefusal(intent) })
        return
      }
      // Only the caller that changes the state runs the call, so it runs once.
      if (calls.change(id, 'waiting', { state: 'running' })) void finish(id, perform(call, closing.signal))
    },
    start(intentOf) {
      calls.forget(steadyMs() - retentionMs)
      for (const { record } of calls.inState('running')) {
        end(record.id, 'running', { state: 'unclear', error: 'Steward closed while the call was running.' })
      }
      for (const { record } of calls.inState('waiting')) {
        const intent = record.intent_id === null ? undefined : intentOf(record.intent_id)
        if (intent?.state === 'waiting') continue
        const error =
          intent && intent.state !== 'signed' ? describeRefusal(intent) : 'Steward closed before the call ran.'
        end(record.id, 'waiting', { state: 'denied', error })
      }
    },
    close: () => closing.abort(),
  }
}

function describeRefusal({ state, error, decision }: IntentRecord): string {
  if (state === 'expired') return 'The request expired without a decision. Nothing was done.'
  return `${error ?? decision?.detail ?? 'The call was refused.'} Nothing was done.`
}
