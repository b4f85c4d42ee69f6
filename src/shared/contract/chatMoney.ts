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

/** Estimated cost of one model's response. */
export const CompletionEstimate = z.object({
  model: z.string(),
  /** Whether the service has the model and a key of its provider. */
  available: z.boolean(),
  context_window: z.int().nullable(),
  /** Estimate for the whole branch that would be sent. */
  input_tokens: z.int(),
  /** Maximum output tokens by parameters, model and limits. */
  max_output_tokens: z.int(),
  /** Cost of the input only, and maximum cost. */
  min_micro_usd: z.int(),
  max_micro_usd: z.int(),
  /** Number of oldest messages that would be omitted because the context is full. */
  omitted_messages: z.int(),
  /** Whether the limits reduce the maximum output. */
  clamped: z.boolean(),
})
export type CompletionEstimate = z.infer<typeof CompletionEstimate>

export const estimateMessage = defineRoute({
  operation: 'messageEstimate',
  method: 'POST',
  path: '/local/chat/estimate',
  summary: 'Estimate the cost of a message before it is sent',
  description:
    'Stores and reserves nothing. Reports a limit that would stop the message in `refusal`, not as an error. Fails with 409 `chat/model` for an unknown model, and with 413 `chat/too-long`.',
  example: { conversation_id: null, parent_id: null, text: 'Which of these files changed today?', models: ['gpt-5.2'] },
  tag,
  auth,
  body: z.object({
    /** Null for a new conversation. */
    conversation_id: ConversationId.nullable(),
    parent_id: MessageId.nullable(),
    text: z.string().max(chatLimits.textCharacters),
    attachment_ids: z.array(AttachmentId).max(chatLimits.attachments).default([]),
    /** Default: the models of the conversation */
    models: ModelNames.optional(),
    system_prompt: z.string().max(chatLimits.systemPromptCharacters).optional(),
    parameters: ChatParameters.partial().optional(),
  }),
  response: z.object({
    estimates: z.array(CompletionEstimate),
    min_micro_usd: z.int(),
    max_micro_usd: z.int(),
    /** Limits of the conversation and of the day. */
    budget: z.array(LimitState),
    /** Reason why the request would be refused: a limit is exhausted. */
    refusal: z.object({ code: z.string(), message: z.string(), hint: z.string().nullable() }).nullable(),
  }),
  refusals: [404, 409, 503],
  maxBodyBytes: 8 * 1024 ** 2,
})

/** Limits of all chats. Days are UTC days. */
export const ChatBudget = z.object({
  day: SpendLimits,
  /** Default limits of conversations. */
  conversation: SpendLimits,
  today: LimitState,
  /** End of the current day. */
  resets_at: IsoTime,
})
export type ChatBudget = z.infer<typeof ChatBudget>

export const getChatBudget = defineRoute({
  operation: 'chatBudgetGet',
  method: 'GET',
  path: '/local/chat/budget',
  summary: 'Get the spending limits of chats and the amounts spent today',
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
  summary: 'Change the spending limits of chats',
  description: 'Limits apply to messages sent afterwards. A soft limit must not exceed its hard limit.',
  example: { day: { soft_micro_usd: 5_000_000, hard_micro_usd: 10_000_000 } },
  tag,
  auth,
  body: z.object({ day: SpendLimits.optional(), conversation: SpendLimits.optional() }),
  response: ChatBudget,
})

/** Spending of one day, model or conversation. */
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
  summary: 'Get the cost of chats by day, model or conversation',
  description:
    'Returns days oldest first, and models or conversations most expensive first. `total` covers the entire filter, also beyond `limit`. Deleted conversations still count.',
  tag,
  auth,
  query: z.object({
    by: z.enum(['day', 'model', 'conversation']).default('day'),
    /** UTC days, both inclusive. */
    from: Day.optional(),
    to: Day.optional(),
    conversation_id: ConversationId.optional(),
    limit: z.coerce.number().int().min(1).max(1000).default(400),
  }),
  /** Days in chronological order; other groups by cost, highest first. */
  response: z.object({ rows: z.array(SpendRow), total: Spend }),
})
