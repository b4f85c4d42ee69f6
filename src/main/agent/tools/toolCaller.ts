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
})
export type ToolCaller = z.infer<typeof ToolCaller>

/** What holds for a caller of whom nothing else is known: it may change, and asks before it destroys. */
export const usualPolicy: ToolPolicy = { changes: 'allow', destroys: 'ask' }
