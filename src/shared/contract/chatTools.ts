import { z } from 'zod'
import { IsoTime } from '../time.ts'

/** Tools in chats: the settings of a conversation, and the tool calls of an assistant message. */

export const chatToolLimits = {
  steps: { min: 1, max: 100, default: 25 },
  /** Maximum length of a result that is stored and sent to the model, in characters. */
  outputCharacters: 40_000,
  /** Maximum length of live command output, in characters. */
  liveCharacters: 8_000,
  /** Maximum number of concurrent calls in one step. Further calls are refused. */
  callsOfStep: 16,
  argumentCharacters: 1_000_000,
} as const

const { min, max } = chatToolLimits.steps
const steps = `must be a whole number from ${min} to ${max}`
const amount = 'must be a whole number of micro-dollars'
const MicroUsd = z.int(amount).min(0, amount).max(1_000_000_000_000, 'must be at most a million dollars')

/** Tool settings of a conversation. */
export const ChatTools = z.object({
  enabled: z.boolean(),
  /** Tools that are offered to models. */
  profile: z.enum(['all', 'read-only', 'sandboxes', 'domains', 'money']),
  /** Default sandbox of the tools. */
  sandbox_id: z.string().max(100).nullable(),
  servers: z
    .array(z.string().max(40), 'must be a list of ids')
    .max(20, 'must be at most 20')
    .describe('Ids of third-party MCP servers whose tools are also available. Applies only with the profile `all`.'),
  max_steps: z
    .int(steps)
    .min(min, steps)
    .max(max, steps)
    .describe('Maximum number of model calls per assistant message.'),
  max_turn_micro_usd: MicroUsd.nullable().describe(
    'Maximum model cost per assistant message. Null if there is no separate limit.',
  ),
  max_day_micro_usd: MicroUsd.nullable().describe(
    'Maximum amount that the tools can spend per UTC day. Null if there is no separate limit.',
  ),
})
export type ChatTools = z.infer<typeof ChatTools>

/** Settings of a conversation with tools disabled. */
export const noTools: ChatTools = {
  enabled: false,
  profile: 'all',
  sandbox_id: null,
  servers: [],
  max_steps: chatToolLimits.steps.default,
  max_turn_micro_usd: null,
  max_day_micro_usd: null,
}

/** Tool call of an assistant message. Calls with the same `step` were requested by one completion. */
export const ChatCall = z.object({
  id: z.string(),
  step: z.int(),
  /** Position in the text of the message, in characters. */
  at: z.int(),
  tool: z.string(),
  /** Arguments as written by the model. Possibly invalid JSON. */
  arguments: z.string(),
  /**
   * `waiting`: for the user's decision. `denied`: not executed. `stopped`: by the user. `interrupted`: Steward exited;
   * the call has an unknown outcome and is not repeated.
   */
  state: z.enum(['running', 'waiting', 'done', 'failed', 'denied', 'stopped', 'interrupted']),
  /** Progress, or the question for the user. */
  note: z.string().nullable(),
  intent_id: z.string().nullable().describe('Id of the request in Approvals.'),
  live: z.string().nullable().describe('Recent output of the command while it runs. Not stored.'),
  output: z.string().nullable().describe('Tool output sent to the model.'),
  result: z.record(z.string(), z.unknown()).nullable().describe('Structured result, unless it is too large.'),
  before: z.record(z.string(), z.unknown()).nullable().describe('DNS record before the change or deletion.'),
  started_at: IsoTime,
  ended_at: IsoTime.nullable(),
})
export type ChatCall = z.infer<typeof ChatCall>
