import { z } from 'zod'
import { parseJson } from '#platform/parsing/boundedJson.ts'
import { chatToolLimits } from '#shared/contract/chatTools.ts'
import { parseServerName } from '#shared/contract/toolServers.ts'
import { findBuiltInTool } from '#shared/contract/tools/toolTable.ts'
import type { Approvals, Withdrawal } from '../approvals/approvals.ts'
import type { ToolCaller } from '../base/toolCaller.ts'
import type { ToolExecutor } from '../tools/toolExecutor.ts'
import type { ToolOutcome } from '../tools/toolOutcome.ts'
import type { CallChange } from './callRepository.ts'
import type { AccumulatedCall } from './toolCallAccumulator.ts'

export type ToolCallRunner = {
  /** Runs the call to completion, without a time limit for the user's decision. Never rejects. */
  run(
    call: AccumulatedCall,
    options: {
      caller: ToolCaller
      signal: AbortSignal
      /** Whether the user stopped the run. */
      isStopped: () => boolean
      update: (change: CallUpdate) => void
      output: (text: string) => void
    },
  ): Promise<CallEnd>
}
/** Progress of a call. */
export type CallUpdate = Pick<CallChange, 'state' | 'note' | 'intent_id'> & { before?: string | null }
export type CallEnd = Pick<CallChange, 'state' | 'output' | 'result'>

type Dependencies = { executor: ToolExecutor; approvals: Pick<Approvals, 'cancel'> }

/** State of a call or payment that continues after its request. */
const TrackedState = z.object({
  id: z.string(),
  state: z.string(),
  sentence: z.string(),
  intent_id: z.string().nullable().default(null),
  result: z.record(z.string(), z.unknown()).nullable().catch(null),
  error: z.string().nullable().default(null),
  hint: z.string().nullable().default(null),
})
const Records = z.array(z.looseObject({ record_id: z.string() }))
type TrackedState = z.infer<typeof TrackedState>
type FollowOptions = { caller: ToolCaller; signal: AbortSignal; waitMs: number }
const stopped: Withdrawal = { actor: { kind: 'person', name: 'You' }, error: 'You stopped the answer.' }
const closed: Withdrawal = { actor: { kind: 'system', name: 'Steward' }, error: 'Steward closed.' }
const ended = ['done', 'settled', 'reconciled']
const underWay = ['running', 'planned', 'signed', 'sent']

/** Wait times in milliseconds. A command may run for an hour; the user may decide until the request expires. */
const waitTimesMs = { person: 0, program: 3_700_000 }
const pollTimeoutMs = 20_000
const resultBytes = 100_000

export function createToolCallRunner({ executor, approvals }: Dependencies): ToolCallRunner {
  /** Follows a tool call or a payment. */
  const follow = async (id: string, { caller, signal, waitMs }: FollowOptions): Promise<TrackedState> => {
    if (id.startsWith('call_')) return executor.waitUntilSettled(id, { caller, waitMs, signal })
    const wait = { person: waitMs, program: waitTimesMs.program }
    const outcome = await executor.runTool('approval_status', { id }, { caller, signal, waitMs: wait })
    if (outcome.kind === 'result') return TrackedState.parse(outcome.result)
    throw new Error(outcome.kind === 'error' ? outcome.sentence : 'The outcome of this call is unknown.')
  }
  const withdraw = ({ state, intent_id }: TrackedState, { requester }: ToolCaller, isStopped: boolean): void => {
    if (state === 'waiting' && intent_id !== null) approvals.cancel(intent_id, requester, isStopped ? stopped : closed)
  }
  /** Records the DNS record that a call affects, to show it to the user with the decision. */
  const recordBefore = async (
    name: string,
    args: Readonly<Record<string, unknown>>,
    options: { caller: ToolCaller; signal: AbortSignal },
  ): Promise<string | undefined> => {
    const { domain, record_id: id } = args
    if ((name !== 'domain_dns_update' && name !== 'domain_dns_delete') || typeof domain !== 'string') return undefined
    const listed = await executor.runTool('domain_dns_list', { domain }, options)
    if (listed.kind !== 'result') return undefined
    const record = Records.safeParse(listed.result.records).data?.find((it) => it.record_id === id)
    return record && JSON.stringify(record).slice(0, resultBytes)
  }
  return {
    async run({ name, arguments: text }, { caller, signal, isStopped, update, output }) {
      const args = parseArguments(text)
      if (args === undefined) return createFailedCall('The arguments are not a JSON object. Send them as one.')
      try {
        const before = await recordBefore(name, args, { caller, signal })
        if (before !== undefined) update({ state: 'running', note: null, intent_id: null, before })
        const progress = (seconds: number, message: string): void =>
          update({ state: 'running', note: `${message}, ${Math.round(seconds)} s`, intent_id: null })
        let outcome = await executor.runTool(name, args, { caller, signal, waitMs: waitTimesMs, progress, output })
        while (outcome.kind === 'waiting') {
          const { id, message } = outcome.waiting
          const current = await follow(id, { caller, signal, waitMs: 0 })
          update({
            state: current.state === 'waiting' ? 'waiting' : 'running',
            note: message,
            intent_id: current.intent_id,
          })
          const next = await follow(id, { caller, signal, waitMs: pollTimeoutMs })
          if (signal.aborted && next.intent_id !== null) withdraw(next, caller, isStopped())
          if (signal.aborted) break
          outcome = toOutcome(name, next)
        }
        return signal.aborted && outcome.kind !== 'result' ? createStoppedCall() : toEnd(outcome)
      } catch (error) {
        return signal.aborted
          ? createStoppedCall()
          : createFailedCall(error instanceof Error ? error.message : 'The call failed.')
      }
    },
  }
}

/** Returns the end of a stopped call, which reports to the model that the outcome is unknown. */
export function createStoppedCall(): CallEnd {
  return { state: 'stopped', output: 'The user stopped this call. It may have partly completed.', result: null }
}

export function createFailedCall(sentence: string): CallEnd {
  return { state: 'failed', output: `Error: ${sentence}`, result: null }
}

function parseArguments(text: string): Readonly<Record<string, unknown>> | undefined {
  if (text.length > chatToolLimits.argumentCharacters) return undefined
  try {
    const value: unknown = text.trim() === '' ? {} : parseJson(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined
  } catch {
    return undefined // reported to the model
  }
}

function toOutcome(name: string, { id, state, sentence, result, error, hint }: TrackedState): ToolOutcome {
  const waiting = (party: 'person' | 'program'): ToolOutcome => {
    return { kind: 'waiting', waiting: { id, for: party, message: sentence, expires_at: null } }
  }
  if (ended.includes(state)) {
    const answer = result ?? {}
    return { kind: 'result', result: answer, text: toText(name, answer) }
  }
  if (state === 'waiting') return waiting('person')
  if (underWay.includes(state)) return waiting('program')
  const code = state === 'denied' || state === 'refused' ? 'tool/denied' : 'tool/failed'
  return { kind: 'error', code, sentence: error ?? `The call ended with the state ${state}.`, hint: hint ?? '' }
}

/** Returns the text of a result. Tools of MCP servers return text only. */
function toText(name: string, answer: TrackedState['result'] & object): string {
  if (parseServerName(name) !== undefined && typeof answer.text === 'string') return answer.text
  return findBuiltInTool(name)?.text?.(answer) ?? JSON.stringify(answer, null, 2)
}

function toEnd(outcome: ToolOutcome): CallEnd {
  switch (outcome.kind) {
    case 'result': {
      const result = JSON.stringify(outcome.result)
      return { state: 'done', output: cut(outcome.text), result: result.length > resultBytes ? null : result }
    }
    case 'error': {
      const { code, sentence, hint } = outcome
      const output = cut(`Error: ${sentence}${hint === '' ? '' : ` ${hint}`}`)
      return { state: code === 'tool/denied' || code === 'intent/denied' ? 'denied' : 'failed', output, result: null }
    }
    case 'waiting':
      return { state: 'failed', output: cut(`Still waiting: ${outcome.waiting.message}`), result: null }
  }
}

/** Truncates a large result to its beginning and end, and states the number of removed characters. */
function cut(text: string): string {
  const max = chatToolLimits.outputCharacters
  if (text.length <= max) return text.toWellFormed()
  const [head, tail] = [Math.floor(max * 0.7), Math.floor(max * 0.25)]
  const omitted = text.length - head - tail
  return `${text.slice(0, head)}\n[… ${omitted.toLocaleString('en-US')} characters left out …]\n${text.slice(-tail)}`.toWellFormed()
}
