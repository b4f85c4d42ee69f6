import { AppError } from '#shared/appError.ts'
import type { ToolCallRecord } from '#shared/contract/toolCalls.ts'
import type { Tool } from '#shared/contract/tools/tool.ts'
import type { Approvals } from '../approvals/approvals.ts'
import { toRequesterKey } from '../base/toolCaller.ts'
import type { PendingCalls } from './pendingCalls.ts'
import { type ToolOutcome, toFailureOutcome, toResultOutcome } from './toolOutcome.ts'
import type { BoundRun, ToolRun } from './toolRun.ts'

/** Maximum time that a call blocks its client. Clients time out after 60 s. */
export const toolWaits = { personMs: 20_000, programMs: 50_000, progressMs: 5_000 } as const

type Options = { approvals: Pick<Approvals, 'cancel'>; pending: Pick<PendingCalls, 'waitUntilSettled'> }

/** Creates the function that waits for the approval of a call, and cancels it when the client disconnects. */
export function createCallWaiting({ approvals, pending }: Options) {
  return async (id: string, tool: Tool, run: BoundRun): Promise<ToolOutcome> => {
    const { call, caller, waitMs, progress } = run
    const signal = AbortSignal.any([run.signal, call.signal])
    const personMs = waitMs?.person ?? toolWaits.personMs
    const programMs = waitMs?.program ?? toolWaits.programMs
    const holder = toRequesterKey(caller)
    const ticking = startProgressReports(progress, 'Waiting for approval in Steward')
    try {
      let record = await pending.waitUntilSettled(id, { holder, waitMs: personMs, signal })
      if (record.state === 'running') {
        record = await pending.waitUntilSettled(id, { holder, waitMs: Math.max(0, programMs - personMs), signal })
      }
      if (record.state === 'waiting' && signal.aborted && record.intent_id !== null) {
        approvals.cancel(record.intent_id, caller.requester)
      }
      return recordOutcome(tool, record)
    } finally {
      ticking.end()
      call.release()
    }
  }
}

/** Result of `waitWithTimeout` if the work takes longer. */
export const timedOut = Symbol('late')

type Bounds = {
  /** No limit if undefined. */
  limitMs: number | undefined
  /** Rejects with its reason immediately, while the work may still clean up. */
  signal: AbortSignal
}

export function waitWithTimeout<T>(work: Promise<T>, { limitMs, signal }: Bounds): Promise<T | typeof timedOut> {
  return new Promise((resolve, reject) => {
    const timer = limitMs === undefined ? undefined : setTimeout(() => resolve(timedOut), limitMs)
    const end = (): void => reject(signal.reason)
    signal.addEventListener('abort', end, { once: true })
    if (signal.aborted) end()
    const done = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
    }
    work.then(resolve, reject).finally(done)
  })
}

/** Reports the elapsed time of a call to its client. */
export function startProgressReports(progress: ToolRun['progress'], message: string) {
  let text = message
  let seconds = 0
  const step = toolWaits.progressMs / 1000
  const tick = (): void => {
    seconds += step
    progress?.(seconds, text)
  }
  const timer = progress && setInterval(tick, toolWaits.progressMs)
  return {
    say(next: string) {
      text = next
    },
    end: () => clearInterval(timer),
  }
}

function recordOutcome(tool: Tool, record: ToolCallRecord): ToolOutcome {
  const { id, state, sentence, result, error, hint, expires_at } = record
  if (record.tool !== tool.name) throw new AppError('tool/call-not-found', `${id} is not a call of ${tool.name}.`)
  switch (state) {
    case 'done':
      return toResultOutcome(tool, result ?? {})
    case 'waiting':
      return { kind: 'waiting', waiting: { id, for: 'person', message: sentence, expires_at } }
    case 'running':
      return { kind: 'waiting', waiting: { id, for: 'program', message: `${tool.name} is running.`, expires_at: null } }
    case 'denied':
      return toFailureOutcome(new AppError('tool/denied', error ?? 'The call was refused.'))
    case 'unclear':
      return toFailureOutcome(new AppError('tool/unknown-outcome', error ?? 'The outcome of this call is unknown.'))
    case 'failed':
      return { kind: 'error', code: 'tool/failed', sentence: error ?? 'The call failed.', hint: hint ?? '' }
  }
}
