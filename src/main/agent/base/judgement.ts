import type { AppError } from '#shared/appError.ts'
import type { IntentRecord } from '#shared/contract/intents.ts'
import type { Tool } from '#shared/contract/tools/tool.ts'
import type { ToolArguments, ToolCaller } from './toolCaller.ts'
import type { ToolRights } from './toolRights.ts'

/** Sandbox, domain or third-party tool server that an action names. */
export type Target = { kind: 'sandbox' | 'domain' | 'tool-server'; id: string }

/** Call of a tool by a caller. */
export type ToolAction = { caller: ToolCaller; tool: Tool; args: ToolArguments }
/** Action of a requester: names the requester and the action, never its rights. */
export type Action = { call: ToolAction } | { request: IntentRecord }

export type Refusal = {
  /** Check that failed. */
  by: 'requester' | 'expiry' | 'stop' | 'policy' | 'steward' | 'rights' | 'budget' | 'limits' | 'target'
  error: AppError
}

/**
 * Judges an action by what holds at this moment: requester present, expiry, stop switch, policy, rights, budget, limits of
 * payments, target present. Called when something is asked for, listed, approved and done, for each call of a program and
 * each step of a chat.
 * @returns the first check that fails, or undefined
 */
export type MayNow = (action: Action) => Refusal | undefined

type ToolLookup = (rights: Pick<ToolRights, 'servers'>) => Tool | undefined

/** Stored context of a request, read at each use. */
export type RequestContext = {
  /** @returns the call that waits for this request; `toolOf` throws AppError if these rights do not include its tool */
  call(request: IntentRecord): (Omit<ToolAction, 'tool'> & { name: string; toolOf: ToolLookup }) | undefined
  /** @returns the name of the tool that asked for this payment or signature */
  payingTool(request: IntentRecord): string | undefined
  targets(request: IntentRecord): readonly Target[]
}

/** Whether a request that waits ends with this refusal. Budgets and limits free up again, so they only block approval. */
export function isFinal({ by }: Refusal): boolean {
  return by !== 'budget' && by !== 'limits'
}
