import { AppError } from '#shared/appError.ts'
import { describeIssue } from '#shared/contract/describeIssue.ts'
import type { ToolCallRecord } from '#shared/contract/toolCalls.ts'
import type { Tool, ToolResult, ToolWaiting } from '#shared/contract/tools/tool.ts'
import { isWaiting } from '#shared/contract/tools/tool.ts'
import type { Approvals } from '../approvals/approvals.ts'
import { digestCall, type ToolArguments, type ToolCaller, toRequesterKey } from '../base/toolCaller.ts'
import { isApprovalRequired, type ToolRights } from '../base/toolRights.ts'
import { type CallApprovalOptions, createCallApproval, findApprovalBeyondSandbox } from './callApproval.ts'
import { createCallWaiting, startProgressReports, timedOut, toolWaits, waitWithTimeout } from './callWaiting.ts'
import type { RunningCalls } from './runningCalls.ts'
import type { ToolActivityRecorder } from './toolActivityRecorder.ts'
import { type ToolOutcome, toFailureOutcome, toResultOutcome } from './toolOutcome.ts'
import type { BoundRun, ToolRun } from './toolRun.ts'

/**
 * Runs tools for MCP clients and for models of the chat. `runTool` never throws and never hangs:
 *
 * const outcome = await executor.runTool('sandbox_exec', { sandbox_id, command }, { caller, signal })
 *
 * For `result`, `result` is the structured response and `text` the same as text. For `error`, the sentence and the hint
 * are for models and users. For `waiting`, the call continues; `waitUntilSettled(waiting.id, …)` and the tool
 * `approval_status` return its outcome.
 *
 * A call that waits for the user is an intent `tool.call` in Approvals, with `caller.asker` as the requester. The chat
 * finds its intents by `asker.id`. An identical call that still waits is the same request.
 *
 * Operations run in this process with the caller's current authority: its profile, policy, budget and dry run, the
 * policy and grants of Approvals, the limits of payments, and the stop switch.
 */
export type ToolExecutor = {
  runTool(name: string, input: unknown, run: ToolRun): Promise<ToolOutcome>
  /** Waits for the result of a pending call. @throws AppError `tool/call-not-found` */
  waitUntilSettled(
    id: string,
    options: { caller: Pick<ToolCaller, 'requester'>; waitMs: number; signal?: AbortSignal },
  ): Promise<ToolCallRecord>
  /** Ends running calls that change something. */
  stopAll(): void
}

/** Performs a call that needs no approval or was approved. @throws AppError */
export type PerformTool = (
  tool: Tool,
  args: ToolArguments,
  call: {
    caller: ToolCaller
    /** Returns the current rights of the caller. @throws AppError `tool/revoked`, `tool/denied`, `tool/profile` */
    rights: () => ToolRights
    signal: AbortSignal
    waitMs: number
    progress?: (message: string) => void
    output?: ToolRun['output']
  },
) => Promise<ToolResult | { waiting: ToolWaiting }>

type Options = CallApprovalOptions & {
  approvals: Pick<Approvals, 'cancel'>
  running: RunningCalls
  perform: PerformTool
  activity: Pick<ToolActivityRecorder, 'recordRefusal'>
  /** @throws AppError with the reason if the rights do not include the tool */
  findTool(name: string, rights: ToolRights): Tool | undefined
}

export function createToolExecutor(options: Options): ToolExecutor {
  const { approvals, running, mayNow, pending, perform, activity, findTool } = options
  const submit = createCallApproval(options)
  const waitForCall = createCallWaiting({ approvals, pending })

  const now = async (tool: Tool, args: ToolArguments, { call, ...run }: BoundRun): Promise<ToolOutcome> => {
    const { caller, signal, progress, waitMs, output } = run
    const leaving = new AbortController()
    const abort = (): void => leaving.abort()
    signal.addEventListener('abort', abort, { once: true })
    if (signal.aborted) abort()
    if (tool.effect !== 'read') call.markChanging()
    const ticking = startProgressReports(progress, `${tool.name} is running`)
    const personMs = waitMs?.person ?? toolWaits.personMs
    const work = perform(tool, args, {
      caller,
      rights: call.rights,
      signal: AbortSignal.any([leaving.signal, call.signal]),
      waitMs: personMs,
      progress: ticking.say,
      output,
    })
      .catch((error: unknown) => {
        throw call.signal.aborted ? call.signal.reason : error
      })
      .finally(call.release)
    try {
      const limitMs = tool.mayWait ? (waitMs?.program ?? toolWaits.programMs) : undefined
      const result = await waitWithTimeout(work, { limitMs, signal: call.signal })
      if (result !== timedOut)
        return isWaiting(result) ? { kind: 'waiting', waiting: result.waiting } : toResultOutcome(tool, result)
      signal.removeEventListener('abort', abort) // the call outlives its client's connection
      const digest = digestCall(caller, tool, args)
      const sentence = `${tool.name} is running`
      const followed = { tool: tool.name, sentence, holder: toRequesterKey(caller), digest, caller: '' }
      const id = pending.follow(
        followed,
        work.then((it) => ({ ...it })),
      )
      return {
        kind: 'waiting',
        waiting: { id, for: 'program', message: `${sentence}.`, expires_at: null },
      }
    } finally {
      ticking.end()
      signal.removeEventListener('abort', abort)
    }
  }

  /**
   * Checks whether a call may run, and submits it for approval if required.
   * @throws AppError with the reason if it is refused
   */
  const begun = async (tool: Tool, input: unknown, { call, ...run }: BoundRun): Promise<CheckedCall> => {
    const args = parseArguments(tool, input)
    if (run.resume?.startsWith('call_')) return { args, callId: run.resume }
    const { caller } = run
    const refusal = mayNow({ call: { caller, tool, args } })
    if (refusal) throw refusal.error
    const beyond = findApprovalBeyondSandbox(tool, args, caller)
    if (!beyond && !isApprovalRequired(call.rights(), tool, args)) return { args, callId: undefined }
    const approval = beyond ??
      tool.approval?.(args) ??
      tool.change?.(args) ?? { sentence: `Run ${tool.name}.`, target: tool.name }
    return { args, callId: await submit(tool, args, { caller, approval }) }
  }

  return {
    async runTool(name, input, run) {
      const call = running.begin(run.caller)
      const bound = { ...run, call }
      let tool: Tool | undefined
      let may: CheckedCall
      try {
        tool = findTool(name, call.rights())
        if (!tool) throw new AppError('tool/unknown', `There is no tool ${name.slice(0, 64)}.`)
        may = await begun(tool, input, bound)
      } catch (error) {
        call.release()
        activity.recordRefusal(name, tool, run.caller, error)
        return toFailureOutcome(error)
      }
      try {
        const { args, callId } = may
        return callId === undefined ? await now(tool, args, bound) : await waitForCall(callId, tool, bound)
      } catch (error) {
        return toFailureOutcome(call.signal.aborted ? call.signal.reason : error)
      }
    },
    waitUntilSettled: (id, { caller, ...options }) =>
      pending.waitUntilSettled(id, { ...options, holder: toRequesterKey(caller) }),
    stopAll: running.stopAll,
  }
}

/** Checked call. `callId` is set if it waits for approval. */
type CheckedCall = { args: ToolArguments; callId: string | undefined }

/** @throws AppError `request/invalid` with the first invalid argument */
function parseArguments({ input }: Tool, args: unknown): ToolArguments {
  const { data, error } = input.safeParse(args ?? {})
  if (data) return data
  const [issue] = error.issues
  throw new AppError('request/invalid', issue ? describeIssue(issue, args) : 'The arguments are not valid.')
}
