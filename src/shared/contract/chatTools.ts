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

export const ChatTools = z.object({
  enabled: z.boolean(),
  /** Tools that are offered to models. */
  profile: z.enum(['all', 'read-only', 'sandboxes', 'domains', 'money']),
  /** Default sandbox of the tools. */
  sandbox_id: z.string().max(100).nullable(),
  servers: z
    .array(z.string().max(40), 'must be a list of ids')
    .max(20, 'must be at most 20')
    .describe('Ids of the MCP servers of others whose tools they may use as well; with the profile `all` alone.'),
  max_steps: z.int(steps).min(min, steps).max(max, steps).describe('Of one answer: how often the model is asked.'),
  max_turn_micro_usd: MicroUsd.nullable().describe(
    'What the model may cost for one answer. Null: no limit of its own.',
  ),
  max_day_micro_usd: MicroUsd.nullable().describe(
    'What its tools may spend in a day of UTC. Null: no limit of its own.',
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
  intent_id: z.string().nullable().describe('The request in Approvals.'),
  live: z.string().nullable().describe('What its command has printed lately, while it runs. It is not kept.'),
  output: z.string().nullable().describe('What the model was told.'),
  result: z.record(z.string(), z.unknown()).nullable().describe('The structured result, where it is not too large.'),
  before: z
    .record(z.string(), z.unknown())
    .nullable()
    .describe('The DNS record that it changes or deletes, as it was.'),
  started_at: IsoTime,
  ended_at: IsoTime.nullable(),
})
export type ChatCall = z.infer<typeof ChatCall>
