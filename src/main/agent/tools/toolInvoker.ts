import { randomBytes } from 'node:crypto'
import { AppError } from '#shared/appError.ts'
import type { ToolContext, ToolResult } from '#shared/contract/tools/tool.ts'
import { type AgentPrincipals, toRequesterPrincipal } from '../base/agentPrincipals.ts'
import type { PaymentSpender } from '../base/localEndpoint.ts'
import { digestCall, type ToolArguments, type ToolCaller, toRequesterKey } from '../base/toolCaller.ts'
import type { UnrecordedTerminals } from '../recordings/unrecordedTerminals.ts'
import type { PaymentIdempotencyKeys } from './paymentIdempotencyKeys.ts'
import type { ProgramSandboxes } from './programSandboxes.ts'
import { runSandboxProgram } from './sandboxProgram.ts'
import type { ToolActivityRecorder } from './toolActivityRecorder.ts'
import type { ToolBudgets } from './toolBudgets.ts'
import type { PerformTool, ToolExecutor } from './toolExecutor.ts'
import type { ToolOperations } from './toolOperations.ts'

type Options = Pick<ToolExecutor, 'runTool'> & {
  operations: ToolOperations
  budgets: ToolBudgets
  paymentKeys: PaymentIdempotencyKeys
  principals: Pick<AgentPrincipals, 'lease'>
  sandboxes: ProgramSandboxes
  activity: Pick<ToolActivityRecorder, 'done' | 'recordFailure'>
  /** Opens terminals of programs without recording them. */
  unrecorded: Pick<UnrecordedTerminals, 'wrapCall'>
  /** Calls a tool of an external server. @throws AppError */
  callExternal(
    tool: string,
    args: ToolArguments,
    options: { signal: AbortSignal; progress: (message: string) => void },
  ): Promise<ToolResult>
}

const cleanupMs = 30_000
/** Timeout of calls that must complete, sufficient to create a sandbox. */
const endMs = 120_000

export function createToolInvoker(options: Options): PerformTool {
  const { operations, budgets, paymentKeys, principals, sandboxes, activity, unrecorded, callExternal, runTool } =
    options

  /**
   * Creates the operations for programs, except those that run programs, under the caller's policy, budget and dry run.
   * @param sandbox sandbox shared with other programs; undefined if it was created for this program
   */
  const operating =
    (caller: ToolCaller, signal: AbortSignal, sandbox?: string) => async (name: string, input: unknown) => {
      const outcome = await runTool(name, input, {
        caller: { ...caller, isProgram: true, ...(sandbox !== undefined && { sandbox }) },
        signal,
      })
      if (outcome.kind === 'result') return outcome.result
      if (outcome.kind === 'waiting') return { waiting: outcome.waiting }
      throw new Error(`${outcome.sentence} ${outcome.hint}`)
    }

  return async (tool, args, { caller, rights, signal, waitMs, progress = () => {}, output }) => {
    const { requester } = caller
    const began = performance.now()
    const toFinished = () => ({ tool, args, caller, tookMs: performance.now() - began })
    const digest = tool.price === 'usdc' ? digestCall(caller, tool, args) : undefined
    const begun = digest === undefined ? undefined : paymentKeys.begin(digest)
    const spenderNow = () => ({ holder: toRequesterKey(caller), limit: rights().dailyBudgetMicroUsd })
    const spender: PaymentSpender | undefined =
      digest === undefined
        ? undefined
        : {
            isLimited: spenderNow().limit !== null,
            attach(payment) {
              budgets.attach(payment, spenderNow())
              paymentKeys.attach(digest, payment.id)
            },
          }
    const callUntil =
      (until: () => AbortSignal): ToolContext['call'] =>
      (route, input) => {
        if (!tool.routes.includes(route)) throw new Error(`${tool.name} does not name ${route.operation}.`)
        return operations.call(route, input, { requester, signal: until(), idempotencyKey: begun?.key, spender })
      }
    // Calls after the caller disconnected are for cleanup and have a separate timeout.
    const call = callUntil(() => (signal.aborted ? AbortSignal.timeout(cleanupMs) : signal))
    const callToEnd = callUntil(() => AbortSignal.timeout(endMs))
    const work: ToolContext = {
      call,
      callToEnd,
      waitMs,
      progress,
      live: output && { watch: randomBytes(16).toString('hex'), onOutput: output },
      openPayment: begun?.payment,
      callExternal: (name, input) => callExternal(name, input, { signal, progress }),
      async runProgram(code, sandboxId) {
        const lease = principals.lease(toRequesterPrincipal(requester), 'program')
        try {
          const bound = AbortSignal.any([signal, lease.signal])
          const run = (id: string) =>
            runSandboxProgram(code, id, {
              call: unrecorded.wrapCall(call),
              callToEnd: unrecorded.wrapCall(callToEnd),
              operate: operating(caller, bound, sandboxId),
              signal: bound,
            })
          if (sandboxId !== undefined) return await run(sandboxId)
          const { id, remove } = await sandboxes.create({ callToEnd, call })
          return await run(id).finally(remove)
        } finally {
          lease.release()
        }
      },
    }
    let reservation: Awaited<ReturnType<ToolBudgets['hold']>> | undefined
    try {
      reservation = await budgets.hold(tool, args, { ...spenderNow(), work })
      const result = await tool.run(reservation.args, work)
      reservation.settle(result)
      activity.done(toFinished(), result)
      return result
    } catch (error) {
      if (isFree(error)) reservation?.release()
      activity.recordFailure(toFinished(), error)
      throw error
    } finally {
      if (digest !== undefined) paymentKeys.end(digest)
    }
  }
}

/**
 * Whether no credits were charged. An interrupted call may have been charged, so it counts until the end of the day.
 */
function isFree(error: unknown): boolean {
  return error instanceof AppError && error.status < 500
}
