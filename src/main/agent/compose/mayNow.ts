import type { PrincipalId } from '#platform/access/principals.ts'
import { AppError } from '#shared/appError.ts'
import type { IntentRecord, Requester } from '#shared/contract/intents.ts'
import type { Tool } from '#shared/contract/tools/tool.ts'
import { toIsoTime } from '#shared/time.ts'
import type { PolicyEvaluation } from '../approvals/evaluateIntent.ts'
import { type PrincipalRights, toEndedError, toRequesterPrincipal, toWalletPrincipal } from '../base/agentPrincipals.ts'
import type { EvaluateAction, Refusal, RequestContext, Target, ToolAction } from '../base/evaluateAction.ts'
import { findPaymentRefusal, findToolRefusal, requireCallRights, type ToolRights } from '../base/toolRights.ts'
import { listTargets } from '../references/actionTargets.ts'

type Options = {
  /** @returns undefined if the principal has ended */
  getRights: (principal: PrincipalId) => PrincipalRights | undefined
  isStopped: () => boolean
  /** Evaluates stop switch, rules and remembered approvals. */
  verdictOn: (request: IntentRecord) => PolicyEvaluation
  context: RequestContext
  /** @returns the reason why the daily budget of a requester does not cover its payment */
  budgetRefusal: (request: IntentRecord, limitMicroUsd: number | null) => AppError | undefined
  /** @returns the reason why the payment limits do not allow it */
  limitRefusal: (request: IntentRecord) => string | undefined
  isRemoved: (target: Target) => boolean
  now: () => number
}

export function createMayNow(options: Options): EvaluateAction {
  const { getRights, isStopped, verdictOn, context, budgetRefusal, limitRefusal, isRemoved, now } = options

  const requireRights = (principal: PrincipalId): PrincipalRights => {
    const rights = getRights(principal)
    if (rights) return rights
    throw toEndedError(principal)
  }
  const callRefusal = ({ caller, tool, args }: ToolAction): Refusal | undefined => {
    const rights = attemptRead('requester', () => requireRights(toRequesterPrincipal(caller.requester)))
    if ('error' in rights) return rights
    const present = attemptRead('rights', () => requireCallRights(rights.value.tools, caller))
    if ('error' in present) return present
    // Permanent refusals take precedence over the stop switch, which is temporary.
    const error = findToolRefusal(present.value, tool, args)
    if (error && (tool.effect === 'read' || error.code === 'tool/profile')) return { by: 'rights', error }
    if (tool.effect !== 'read' && isStopped()) {
      return { by: 'stop', error: new AppError('intent/stopped', 'Everything is stopped.') }
    }
    return error ? { by: 'rights', error } : targetRefusal(listTargets(tool, args))
  }
  const targetRefusal = (targets: readonly Target[]): Refusal | undefined => {
    const removedTarget = targets.find(isRemoved)
    return removedTarget && { by: 'target', error: removedErrors[removedTarget.kind](removedTarget.id) }
  }
  /** Returns the refusal by the rights of a tool client or a chat, for the tool that led to the request. */
  const requestRights = (request: IntentRecord, rights: ToolRights | undefined): Refusal | undefined => {
    const call = context.call(request)
    if (call) {
      const present = attemptRead('rights', () => requireCallRights(rights, call.caller))
      if ('error' in present) return present
      const tool = attemptRead('rights', () => requireTool(call.name, call.toolOf(present.value)))
      if ('error' in tool) return tool
      const error = findToolRefusal(present.value, tool.value, call.args)
      return error && { by: 'rights', error }
    }
    if (request.kind === 'tool.call') return undefined // submission in progress: its call was evaluated just before
    const present = attemptRead('rights', () => requireCallRights(rights, {}))
    if ('error' in present) return present
    const name = context.payingTool(request)
    const error = findPaymentRefusal(present.value, name)
    return error && { by: 'rights', error }
  }
  const requestRefusal = (request: IntentRecord): Refusal | undefined => {
    const requester = attemptRead('requester', () => requireRights(toRequesterPrincipal(request.requester)))
    if ('error' in requester) return requester
    const account = attemptRead('requester', () => requireRights(toWalletPrincipal(request.account_id)))
    if ('error' in account) return account
    if (request.expires_at <= toIsoTime(now())) {
      return { by: 'expiry', error: new AppError('intent/decided', 'This request has expired.') }
    }
    const verdict = verdictOn(request)
    if (verdict.effect === 'deny') {
      const by = verdict.by === 'grant' ? 'policy' : verdict.by
      return { by, error: new AppError(by === 'stop' ? 'intent/stopped' : 'intent/denied', verdict.detail) }
    }
    const { tools } = requester.value
    const rights = isTool(request.requester) ? requestRights(request, tools) : undefined
    if (rights) return rights
    const budget = budgetRefusal(request, tools?.dailyBudgetMicroUsd ?? null)
    if (budget) return { by: 'budget', error: budget }
    const limit = limitRefusal(request)
    if (limit !== undefined) return { by: 'limits', error: new AppError('intent/denied', limit) }
    return targetRefusal(context.targets(request))
  }

  return (action) => ('call' in action ? callRefusal(action.call) : requestRefusal(action.request))
}

/** @throws AppError `tool/unknown` */
function requireTool(name: string, tool: Tool | undefined): Tool {
  if (tool) return tool
  throw new AppError('tool/unknown', `The tool ${name} no longer exists.`)
}

function isTool({ kind }: Requester): boolean {
  return kind === 'tool'
}

/** @returns the value, or the refusal for the AppError thrown */
function attemptRead<T>(by: Refusal['by'], read: () => T): { value: T } | Refusal {
  try {
    return { value: read() }
  } catch (error) {
    if (error instanceof AppError) return { by, error }
    throw error
  }
}

const removedErrors: Readonly<Record<Target['kind'], (id: string) => AppError>> = {
  sandbox: (id) => new AppError('sandbox/not-found', `The sandbox ${id.slice(0, 8)} no longer exists.`),
  domain: (id) => new AppError('domain/not-found', `${id} is no longer in this account.`),
  'tool-server': (id) => new AppError('tool-server/not-found', `The tool server “${id}” was removed.`),
}
