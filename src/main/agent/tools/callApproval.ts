import { hash } from 'node:crypto'
import { AppError } from '#shared/appError.ts'
import { isWithinSandbox } from '#shared/contract/tools/sandboxAuthority.ts'
import type { Tool, ToolApproval, ToolContext } from '#shared/contract/tools/tool.ts'
import type { RateLimitedSubmissions } from '../approvals/limitSubmissions.ts'
import type { EvaluateAction } from '../base/evaluateAction.ts'
import { digestCall, findTarget, type ToolArguments, type ToolCaller, toRequesterKey } from '../base/toolCaller.ts'
import type { PendingCalls } from './pendingCalls.ts'

export type CallApprovalOptions = {
  mayNow: EvaluateAction
  /** Checks with the service whether the targets of a call still exist. */
  refresh: (tool: Tool, args: ToolArguments) => Promise<void>
  limitedApprovals: Pick<RateLimitedSubmissions, 'submit'>
  pending: PendingCalls
  /** Calls the service with the caller's authority, to resolve ids in the arguments to names. @throws AppError */
  call(caller: ToolCaller, signal: AbortSignal): ToolContext['call']
}

type ApprovalRequest = { caller: ToolCaller; approval: ToolApproval }

const describeTimeoutMs = 3_000

/**
 * Creates the function that submits a call for approval. An identical waiting call is reused.
 * @returns id of the waiting call
 */
export function createCallApproval(options: CallApprovalOptions) {
  const { mayNow, refresh, limitedApprovals, pending } = options

  /** Falls back to the plain sentence if the lookup fails, because the operation reports the error. */
  const describe = async (tool: Tool, args: ToolArguments, { caller, approval }: ApprovalRequest): Promise<string> => {
    if (!tool.describe || caller.sandbox !== undefined) return approval.sentence
    try {
      return await tool.describe(args, options.call(caller, AbortSignal.timeout(describeTimeoutMs)))
    } catch (error) {
      if (error instanceof AppError || (error instanceof Error && error.name === 'TimeoutError')) {
        return approval.sentence
      }
      throw error
    }
  }

  return async (tool: Tool, args: ToolArguments, { caller, approval }: ApprovalRequest): Promise<string> => {
    const digest = digestCall(caller, tool, args)
    const same = pending.waiting(digest)
    if (same) return same.id
    const holder = toRequesterKey(caller)
    pending.assertCapacity(holder)
    const { target } = approval
    const [sentence] = await Promise.all([describe(tool, args, { caller, approval }), refresh(tool, args)])
    const refusal = mayNow({ call: { caller, tool, args } }) // rights may have changed during the lookup
    if (refusal) throw refusal.error
    const again = pending.waiting(digest)
    if (again) return again.id
    const argumentText = JSON.stringify(args)
    const intent = { kind: 'tool.call', tool: tool.name, sentence, target, arguments: argumentText } as const
    const { id } = await limitedApprovals.submit({
      intent,
      // Rules apply to the caller that started the program, not to all processes of its sandbox.
      requester: caller.sandbox === undefined ? caller.requester : { ...caller.requester, limited: true },
      onStored: (record) =>
        pending.add(
          { tool: tool.name, sentence, holder, digest, argumentText, caller: JSON.stringify(caller) },
          record,
        ),
    })
    return pending.ofIntent(id)?.id ?? ''
  }
}

/**
 * Returns the approval for a call from a sandbox that exceeds its authority. An advance approval covers the sandbox or
 * domain of the call, or the exact arguments if it has neither.
 */
export function findApprovalBeyondSandbox(
  tool: Tool,
  args: ToolArguments,
  { sandbox }: ToolCaller,
): ToolApproval | undefined {
  if (sandbox === undefined || isWithinSandbox(tool, args, sandbox)) return undefined
  const target = findTarget(args)
  const about = target === '' ? ` with ${describeArguments(args)}` : ` for ${target}`
  return {
    sentence: `Let a program in the sandbox ${sandbox.slice(0, 8)} call ${tool.name}${about}.`,
    target: `${sandbox} ${tool.name} ${target || describeArguments(args)}`.slice(0, 255),
  }
}

/** Returns the arguments as JSON, or their digest if the JSON is long or not ASCII. */
function describeArguments(args: ToolArguments): string {
  const text = JSON.stringify(args)
  if (/^[\x20-\x7e]{0,140}$/.test(text)) return text
  return `arguments ${hash('sha256', text).slice(0, 32)}`
}
