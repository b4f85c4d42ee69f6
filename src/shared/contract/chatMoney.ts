import { z } from 'zod'
import { IsoTime } from '../time.ts'
import {
  AttachmentId,
  ChatParameters,
  ConversationId,
  chatLimits,
  LimitState,
  MessageId,
  ModelNames,
  Spend,
  SpendLimits,
} from './chats.ts'
import { defineRoute } from './route.ts'

/** Estimated and actual cost of conversations. All amounts are in micro-dollars. */

const tag = 'Chat'
const auth = 'person'

/** Estimated cost of one model's answer. */
export const AnswerEstimate = z.object({
  model: z.string(),
  /** The service has this model, and a key of its provider. */
  available: z.boolean(),
  context_window: z.int().nullable(),
  /** Estimated, of the whole branch that would be sent. */
  input_tokens: z.int(),
  /** Maximum output tokens by parameters, model and limits. */
  max_output_tokens: z.int(),
  /** The input alone, and the most that it can cost. */
  min_micro_usd: z.int(),
  max_micro_usd: z.int(),
  /** Number of oldest messages that would be left out because the context is full. */
  omitted_messages: z.int(),
  /** The amount exceeds what the limits leave. */
  clamped: z.boolean(),
})
export type AnswerEstimate = z.infer<typeof AnswerEstimate>

export const estimateMessage = defineRoute({
  operation: 'messageEstimate',
  method: 'POST',
  path: '/local/chat/estimate',
  summary: 'Estimate the cost of a message before it is sent',
  description:
    'Stores and reserves nothing. A limit that would stop the message is reported in `refusal`, not as an error. Fails with 409 `chat/model` for an unknown model, and with 413 `chat/too-long`.',
  example: { conversation_id: null, parent_id: null, text: 'Which of these files changed today?', models: ['gpt-5.2'] },
  tag,
  auth,
  body: z.object({
    /** Null: of a conversation that does not exist yet. */
    conversation_id: ConversationId.nullable(),
    parent_id: MessageId.nullable(),
    text: z.string().max(chatLimits.textCharacters),
    attachment_ids: z.array(AttachmentId).max(chatLimits.attachments).default([]),
    /** Absent: as the conversation has it. */
    models: ModelNames.optional(),
    system_prompt: z.string().max(chatLimits.systemPromptCharacters).optional(),
    parameters: ChatParameters.partial().optional(),
  }),
  response: z.object({
    estimates: z.array(AnswerEstimate),
    min_micro_usd: z.int(),
    max_micro_usd: z.int(),
    /** Limits of the conversation and of the day. */
    budget: z.array(LimitState),
    /** Why it would be refused: a limit that leaves nothing. */
    refusal: z.object({ code: z.string(), message: z.string(), hint: z.string().nullable() }).nullable(),
  }),
  refusals: [404, 409, 503],
  maxBodyBytes: 8 * 1024 ** 2,
})

/** Limits of all chats; days are days of UTC. */
export const ChatBudget = z.object({
  day: SpendLimits,
  /** Default of conversations. */
  conversation: SpendLimits,
  today: LimitState,
  /** When the day ends. */
  resets_at: IsoTime,
})
export type ChatBudget = z.infer<typeof ChatBudget>

export const getChatBudget = defineRoute({
  operation: 'chatBudgetGet',
  method: 'GET',
  path: '/local/chat/budget',
  summary: 'Get the spending limits of chats, and their use today',
  description:
    'Amounts are in micro-dollars; null means no limit. A day is a calendar day in UTC and ends at `resets_at`. `conversation` applies to conversations whose `limits` are null.',
  tag,
  auth,
  response: ChatBudget,
})

export const changeChatBudget = defineRoute({
  operation: 'chatBudgetChange',
  method: 'PATCH',
  path: '/local/chat/budget',
  summary: 'Change the limits of chats',
  description: 'They hold for what is sent from now on. A soft limit must not be above the hard one beside it.',
  example: { day: { soft_micro_usd: 5_000_000, hard_micro_usd: 10_000_000 } },
  tag,
  auth,
  body: z.object({ day: SpendLimits.optional(), conversation: SpendLimits.optional() }),
  response: ChatBudget,
})

/** Chat spending of one group. */
export const SpendRow = Spend.extend({
  /** A day (`2026-11-22`), a model, or the id of a conversation. */
  key: z.string(),
  /** Display name. `Deleted chat` for a deleted conversation. */
  label: z.string(),
})
export type SpendRow = z.infer<typeof SpendRow>

const Day = z.iso.date('must be a day such as 2026-11-22')

export const sumChatSpend = defineRoute({
  operation: 'chatSpendSum',
  method: 'GET',
  path: '/local/chat/spend',
  summary: 'Sum the cost of chats by day, model or conversation',
  description:
    'Returns days oldest first, and models or conversations most expensive first. `total` covers the whole filter, also beyond `limit`. Deleted conversations still count.',
  tag,
  auth,
  query: z.object({
    by: z.enum(['day', 'model', 'conversation']).default('day'),
    /** Days of UTC, both included. */
    from: Day.optional(),
    to: Day.optional(),
    conversation_id: ConversationId.optional(),
    limit: z.coerce.number().int().min(1).max(1000).default(400),
  }),
  /** Days in their order, everything else with the dearest first. */
  response: z.object({ rows: z.array(SpendRow), total: Spend }),
})
