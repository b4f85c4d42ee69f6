import { AppError } from '#shared/appError.ts'
import type { ToolPolicy, ToolProfile } from '#shared/contract/toolClients.ts'
import type { Tool } from '#shared/contract/tools/tool.ts'
import { findBuiltInTool, mayUse } from '#shared/contract/tools/toolTable.ts'
import type { ToolArguments, ToolCaller } from './toolCaller.ts'

/** Current rights of a tool client or a chat. Read them on each use and never store them. */
export type ToolRights = {
  profile: ToolProfile
  policy: ToolPolicy
  /** Budget per UTC day, in micro-dollars. Null if unlimited. */
  dailyBudgetMicroUsd: number | null
  /** Whether calls that change data are validated without being executed. */
  dryRun: boolean
  /** Ids of the permitted third-party MCP servers. */
  servers: readonly string[]
}

/** Policy of a caller without settings: changes are allowed, and destructive calls need approval. */
export const defaultToolPolicy: ToolPolicy = { changes: 'allow', destroys: 'ask' }

/**
 * Returns the rights for one call: restricted to the profile of its request, or all operations for a program whose
 * client may run programs.
 * @throws AppError `tool/denied`, `tool/profile`
 */
export function requireCallRights(
  rights: ToolRights | undefined,
  { narrowedTo, isProgram }: Pick<ToolCaller, 'narrowedTo' | 'isProgram'>,
): ToolRights {
  if (!rights) throw new AppError('tool/denied', 'Tools are off in this chat.')
  const profile = narrowedTo === undefined ? rights.profile : narrowProfile(rights.profile, narrowedTo)
  if (!isProgram) return { ...rights, profile }
  if (profile !== 'code') throw new AppError('tool/profile', `operations_run is not in the profile “${profile}”.`)
  return { ...rights, profile: 'all' }
}

/** @throws AppError `tool/profile` if the profile of the request allows more */
export function narrowProfile(profile: ToolProfile, narrower: ToolProfile): ToolProfile {
  if (narrower === profile || profile === 'all' || narrower === 'read-only') return narrower
  throw new AppError('tool/profile', `The profile ${narrower} is not narrower than ${profile}.`)
}

/** Returns the reason why these rights do not allow a call, or undefined if they do. */
export function findToolRefusal(
  { profile, policy, dryRun }: ToolRights,
  tool: Tool,
  args: ToolArguments,
): AppError | undefined {
  if (!mayUse(profile, tool)) {
    return new AppError('tool/profile', `${tool.name} is not in the profile “${profile}” of this client.`)
  }
  if (tool.effect === 'read') return undefined
  const approval = tool.approval?.(args)
  const rule = tool.effect === 'pay' || approval ? policy.destroys : policy.changes
  if (rule === 'deny' || (policy.changes === 'deny' && tool.change?.(args))) {
    return new AppError('tool/denied', `This client is not allowed to call ${tool.name}.`)
  }
  if (!dryRun) return undefined
  const would = approval ? ` It would: ${approval.sentence}` : ''
  return new AppError('tool/dry-run', `Dry run: ${tool.name} was validated but not run.${would}`)
}

/**
 * Returns the reason why these rights allow no payment or signature requested by the named tool.
 * @param name undefined if unknown
 */
export function findPaymentRefusal(rights: ToolRights, name: string | undefined): AppError | undefined {
  const { profile, policy, dryRun } = rights
  const tool = name === undefined ? undefined : findBuiltInTool(name)
  // Programs of the profile `code` may call every tool.
  const mayPay = tool && profile !== 'code' ? mayUse(profile, tool) : profile !== 'read-only'
  if (!mayPay) {
    const subject = tool ? `${tool.name} is` : 'Payments are'
    return new AppError('tool/profile', `${subject} not in the profile “${profile}” of this client.`)
  }
  if (policy.destroys === 'deny') return new AppError('tool/denied', 'This client is not allowed to pay or sign.')
  return dryRun ? new AppError('tool/dry-run', 'Dry run: the call was validated but not run.') : undefined
}

/**
 * Whether these rights require approval before a call runs. The operation of a paying tool requests the approval
 * itself.
 */
export function isApprovalRequired({ policy }: ToolRights, tool: Tool, args: ToolArguments): boolean {
  if (tool.effect === 'read') return false
  if (tool.effect === 'pay') return policy.changes === 'ask' && tool.change?.(args) !== undefined
  return (tool.approval?.(args) ? policy.destroys : policy.changes) === 'ask'
}
