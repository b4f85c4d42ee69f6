import { randomBytes } from 'node:crypto'
import { AppError } from '../../../shared/appError.ts'
import type { ToolResult, ToolWork } from '../../../shared/contract/tools/tool.ts'
import type { PaymentSpender } from '../localEndpoint.ts'
import type { UnrecordedTerminals } from '../recordings/unrecordedTerminals.ts'
import type { PaymentKeys } from './paymentKeys.ts'
import { sandboxProgram } from './sandboxProgram.ts'
import type { ToolBudgets } from './toolBudgets.ts'
import { callDigest, holderOf, type ToolArguments, type ToolCaller } from './toolCaller.ts'
import type { PerformTool, ToolExecutor } from './toolExecutor.ts'
import type { ToolNotes } from './toolNotes.ts'
import type { ToolOperations } from './toolOperations.ts'

type Options = Pick<ToolExecutor, 'runTool'> & {
  operations: ToolOperations
  budgets: ToolBudgets
  paymentKeys: PaymentKeys
  notes: Pick<ToolNotes, 'done' | 'failed'>
  /** Opens the terminals of programs without recording them. */
  unrecorded: Pick<UnrecordedTerminals, 'callOf'>
  /** Calls a tool of another server. @throws AppError */
  callServed(
    tool: string,
    args: ToolArguments,
    given: { signal: AbortSignal; progress: (message: string) => void },
  ): Promise<ToolResult>
}

const tidyMs = 30_000
/** A sandbox is made within that. */
const endMs = 120_000

export function toolPerformer({
  operations,
  budgets,
  paymentKeys,
  notes,
  unrecorded,
  callServed,
  runTool,
}: Options): PerformTool {
  /**
   * Runs operations for programs, except those that run programs, under the caller's policy, budget and dry run.
   * @param sandbox one that other programs share; absent if it was created for this program
   */
  const operating =
    (caller: ToolCaller, signal: AbortSignal, sandbox?: string) => async (name: string, given: unknown) => {
      const outcome = await runTool(name, given, {
        caller: { ...caller, profile: 'all', ...(sandbox !== undefined && { sandbox }) },
        signal,
      })
      if (outcome.kind === 'result') return outcome.result
      if (outcome.kind === 'waiting') return { waiting: outcome.waiting }
      throw new Error(`${outcome.sentence} ${outcome.hint}`)
    }

  return async (tool, args, { caller, signal, waitMs, progress = () => {}, output }) => {
    const { asker, dailyBudgetMicroUsd: limit } = caller
    const began = performance.now()
    const noted = () => ({ tool, args, caller, tookMs: performance.now() - began })
    const digest = tool.price === 'usdc' ? callDigest(caller, tool, args) : undefined
    const begun = digest === undefined ? undefined : paymentKeys.begin(digest)
    const by = { holder: holderOf(caller), limit }
    const spender: PaymentSpender | undefined =
      digest === undefined
        ? undefined
        : {
            isLimited: limit !== null,
            attach(payment) {
              budgets.attach(payment, by)
              paymentKeys.attach(digest, payment.id)
            },
          }
    const callUntil =
      (until: () => AbortSignal): ToolWork['call'] =>
      (route, input) => {
        if (!tool.routes.includes(route)) throw new Error(`${tool.name} does not name ${route.operation}.`)
        return operations.call(route, input, { asker, signal: until(), idempotencyKey: begun?.key, spender })
      }
    // What is called once its caller has gone tidies up, and has a moment for that.
    const call = callUntil(() => (signal.aborted ? AbortSignal.timeout(tidyMs) : signal))
    const work: ToolWork = {
      call,
      callToEnd: callUntil(() => AbortSignal.timeout(endMs)),
      waitMs,
      progress,
      live: output && { watch: randomBytes(16).toString('hex'), tell: output },
      openPayment: begun?.payment,
      callServed: (name, given) => callServed(name, given, { signal, progress }),
      runProgram: (code, { id, isShared }) =>
        sandboxProgram(code, id, {
          call: unrecorded.callOf(call),
          operate: operating(caller, signal, isShared ? id : undefined),
          signal,
        }),
    }
    let held: Awaited<ReturnType<ToolBudgets['hold']>> | undefined
    try {
      held = await budgets.hold(tool, args, { ...by, work })
      const result = await tool.run(held.args, work)
      held.settle(result)
      notes.done(noted(), result)
      return result
    } catch (failure) {
      if (costNothing(failure)) held?.release()
      notes.failed(noted(), failure)
      throw failure
    } finally {
      if (digest !== undefined) paymentKeys.end(digest)
    }
  }
}

/** Whether no credits were charged. An interrupted call may have been, and counts until the end of the day. */
function costNothing(failure: unknown): boolean {
  return failure instanceof AppError && failure.status < 500
}
