import type { AppError } from '#shared/appError.ts'
import type { IntentRecord } from '#shared/contract/intents.ts'
import type { Tool } from '#shared/contract/tools/tool.ts'
import type { ToolArguments, ToolCaller } from './toolCaller.ts'
import type { ToolRights } from './toolRights.ts'

/** Sandbox, domain or third-party tool server that an action names. */
export type Target = { kind: 'sandbox' | 'domain' | 'tool-server'; id: string }

export type ToolAction = { caller: ToolCaller; tool: Tool; args: ToolArguments }
/** Action of a requester. Names the requester and the action, but never includes rights. */
export type Action = { call: ToolAction } | { request: IntentRecord }

export type Refusal = {
  /** Check that failed. */
  by: 'requester' | 'expiry' | 'stop' | 'policy' | 'steward' | 'rights' | 'budget' | 'limits' | 'target'
  error: AppError
}

/**
 * Evaluates whether an action is allowed now: requester present, expiry, stop switch, policy, rights, budget, payment
 * limits, target present. Called on submission, listing, approval and execution, for each call of a program and each
 * step of a chat.
 * @returns the first failed check, or undefined
 */
export type EvaluateAction = (action: Action) => Refusal | undefined

type ToolLookup = (rights: Pick<ToolRights, 'servers'>) => Tool | undefined

/** Stored context of a request, read on each use. */
export type RequestContext = {
  /** @returns the call that waits for this request. `toolOf` throws AppError if these rights do not include its tool */
  call(request: IntentRecord): (Omit<ToolAction, 'tool'> & { name: string; toolOf: ToolLookup }) | undefined
  /** @returns the name of the tool that requested this payment or signature */
  payingTool(request: IntentRecord): string | undefined
  targets(request: IntentRecord): readonly Target[]
}

/** Whether the refusal ends a waiting request. Budgets and limits free up again, so they only block approval. */
export function isFinal({ by }: Refusal): boolean {
  return by !== 'budget' && by !== 'limits'
}
