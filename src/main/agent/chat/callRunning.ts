import { chatToolLimits } from '../../../shared/contract/chatTools.ts'
import type { ToolCallRecord } from '../../../shared/contract/toolCalls.ts'
import { toolNamed } from '../../../shared/contract/tools/toolTable.ts'
import type { Approvals } from '../approvals/approvals.ts'
import type { ToolCaller } from '../tools/toolCaller.ts'
import type { ToolExecutor } from '../tools/toolExecutor.ts'
import type { ToolOutcome } from '../tools/toolOutcome.ts'
import type { CallChange } from './callRepository.ts'
import type { GatheredCall } from './gatheredCalls.ts'

export type CallRunning = {
  /** Runs it to its end, however long the person takes. Never rejects. */
  run(
    call: GatheredCall,
    given: { caller: ToolCaller; signal: AbortSignal; tell: (change: CallNews) => void },
  ): Promise<CallEnd>
}
/** What is going on meanwhile. */
export type CallNews = Pick<CallChange, 'state' | 'note' | 'intent_id'>
export type CallEnd = Pick<CallChange, 'state' | 'output' | 'result'>

type Parts = { executor: ToolExecutor; approvals: Pick<Approvals, 'cancel'> }

/** A command may run for an hour; the person may take as long as the request holds. */
const waits = { person: 0, program: 3_700_000 }
const lookMs = 60_000
const resultBytes = 100_000

export function callRunning({ executor, approvals }: Parts): CallRunning {
  return {
    async run({ name, arguments: text }, { caller, signal, tell }) {
      const args = parsedArguments(text)
      if (args === undefined) return failed('The arguments are not a JSON object. Send them as one.')
      try {
        const progress = (seconds: number, message: string): void =>
          tell({ state: 'running', note: `${message}, ${Math.round(seconds)} s`, intent_id: null })
        let outcome = await executor.runTool(name, args, { caller, signal, waitMs: waits, progress })
        while (outcome.kind === 'waiting') {
          const { id, message } = outcome.waiting
          const { state, intent_id } = await executor.settled(id, { caller, waitMs: 0 })
          tell({ state: state === 'waiting' ? 'waiting' : 'running', note: message, intent_id })
          const record = await executor.settled(id, { caller, waitMs: lookMs, signal })
          if (signal.aborted && record.state === 'waiting' && intent_id !== null)
            approvals.cancel(intent_id, caller.asker)
          if (signal.aborted) break
          outcome = outcomeOf(name, record)
        }
        return signal.aborted && outcome.kind !== 'result' ? stoppedCall() : endOf(outcome)
      } catch (failure) {
        return signal.aborted ? stoppedCall() : failed(failure instanceof Error ? failure.message : 'It failed.')
      }
    },
  }
}

/** The model is told; nobody knows how far it came. */
export function stoppedCall(): CallEnd {
  return { state: 'stopped', output: 'The person stopped this call. It may have been done in part.', result: null }
}

export function failed(sentence: string): CallEnd {
  return { state: 'failed', output: `Error: ${sentence}`, result: null }
}

function parsedArguments(text: string): object | undefined {
  if (text.length > chatToolLimits.argumentCharacters) return undefined
  try {
    const given: unknown = text.trim() === '' ? {} : JSON.parse(text)
    return typeof given === 'object' && given !== null && !Array.isArray(given) ? given : undefined
  } catch {
    return undefined // the model is told so
  }
}

function outcomeOf(name: string, record: ToolCallRecord): ToolOutcome {
  const { id, state, sentence, result, error, hint, expires_at } = record
  if (state === 'done') {
    const answer = result ?? {}
    return { kind: 'result', result: answer, text: toolNamed(name)?.text?.(answer) ?? JSON.stringify(answer, null, 2) }
  }
  if (state === 'waiting') return { kind: 'waiting', waiting: { id, for: 'person', message: sentence, expires_at } }
  if (state === 'running') return { kind: 'waiting', waiting: { id, for: 'program', message: sentence, expires_at } }
  const code = state === 'denied' ? 'tool/denied' : 'tool/failed'
  return { kind: 'error', code, sentence: error ?? 'It failed.', hint: hint ?? '' }
}

function endOf(outcome: ToolOutcome): CallEnd {
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
      return { state: 'failed', output: cut(`It still waits: ${outcome.waiting.message}`), result: null }
  }
}

/** Of an enormous result its beginning and its end, and how much is missing. */
function cut(text: string): string {
  const most = chatToolLimits.outputCharacters
  if (text.length <= most) return text.toWellFormed()
  const [head, tail] = [Math.floor(most * 0.7), Math.floor(most * 0.25)]
  const left = text.length - head - tail
  return `${text.slice(0, head)}\n[… ${left.toLocaleString('en-US')} characters left out …]\n${text.slice(-tail)}`.toWellFormed()
}
