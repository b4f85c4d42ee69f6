import { hash } from 'node:crypto'
import { z } from 'zod'
import { Asker } from '../../../shared/contract/intents.ts'
import { ToolPolicy, ToolProfile } from '../../../shared/contract/toolClients.ts'

/** Who calls tools, and what it may do: a client of MCP, or a conversation of the chat. */
export const ToolCaller = z.object({
  /** As approvals, payments and Activity name it; `kind` is `tool`, or `client` for the holder of an API key. */
  asker: Asker,
  profile: ToolProfile,
  policy: ToolPolicy,
  /** Of a day of UTC; null: no limit of its own. */
  dailyBudgetMicroUsd: z.int().nullable(),
  /** What is no reading is checked, and not done. */
  dryRun: z.boolean(),
  /** Ids of the MCP servers of others whose tools it may call. */
  servers: z.array(z.string()).optional(),
  /** Sandbox that runs the caller. Calls that affect anything outside it need approval, whatever its policy. */
  sandbox: z.string().optional(),
})
export type ToolCaller = z.infer<typeof ToolCaller>

/** What holds for a caller of whom nothing else is known: it may change, and asks before it destroys. */
export const usualPolicy: ToolPolicy = { changes: 'allow', destroys: 'ask' }

export type ToolArguments = Readonly<Record<string, unknown>>

/** Under which name its calls, its money and its payments are kept. */
export function holderOf({ asker }: Pick<ToolCaller, 'asker'>): string {
  return `${asker.kind} ${asker.id}`
}

/** The same for the same call of the same caller. */
export function callDigest(
  caller: Pick<ToolCaller, 'asker' | 'sandbox'>,
  tool: { name: string },
  args: ToolArguments,
): string {
  const given = Object.entries(args).sort(([one], [other]) => (one < other ? -1 : 1))
  return hash(
    'sha256',
    JSON.stringify([holderOf(caller), tool.name, given, ...(caller.sandbox ? [caller.sandbox] : [])]),
  )
}

/** The sandbox or the domain a call is about. */
export function targetOf({ sandbox_id: sandbox, domain }: ToolArguments): string {
  return String(sandbox ?? domain ?? '').slice(0, 255)
}
