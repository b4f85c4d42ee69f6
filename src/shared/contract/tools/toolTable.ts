import type { ToolProfile } from '../toolClients.ts'
import { approvalTools } from './approvalTools.ts'
import { createCodeTools } from './codeTools.ts'
import { creditTools } from './creditTools.ts'
import { domainTools } from './domainTools.ts'
import { identityTools } from './identityTools.ts'
import { modelTools } from './modelTools.ts'
import { domainPurchaseTools, paymentTools } from './paymentTools.ts'
import { sandboxTools } from './sandboxTools.ts'
import { terminalTools } from './terminalTools.ts'
import type { Tool, ToolGroup } from './tool.ts'

/** All tools in a fixed order, so that listings are byte-identical and prompt caches remain valid. */
export const toolTable: readonly Tool[] = [
  ...sandboxTools,
  ...terminalTools,
  ...modelTools,
  ...domainTools,
  ...domainPurchaseTools,
  ...creditTools,
  ...paymentTools,
  ...identityTools,
  ...approvalTools,
]

const codeTable = createCodeTools(() => toolTable)

const byName = new Map([...toolTable, ...codeTable].map((tool) => [tool.name, tool]))

/** Finds a tool of Steward, not of third-party servers. */
export function findBuiltInTool(name: string): Tool | undefined {
  return byName.get(name)
}

const groups: Partial<Record<ToolProfile, readonly ToolGroup[]>> = {
  sandboxes: ['sandboxes', 'approvals'],
  domains: ['domains', 'approvals'],
  money: ['money', 'approvals'],
}

/** Whether the tool is listed and allowed in this profile. */
export function mayUse(profile: ToolProfile, { effect, group }: Pick<Tool, 'effect' | 'group'>): boolean {
  if (profile === 'code') return group === 'code' || group === 'approvals'
  if (group === 'code') return false
  if (profile === 'all') return true
  if (profile === 'read-only') return effect === 'read'
  return groups[profile]?.includes(group) ?? false
}

/** Lists the tools of Steward that a profile includes. */
export function listToolsOfProfile(profile: ToolProfile): readonly Tool[] {
  return [...codeTable, ...toolTable].filter((tool) => mayUse(profile, tool))
}
