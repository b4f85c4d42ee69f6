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
  summary: 'What a message would cost before it is sent',
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
  summary: 'Limits of chats, and what of them is used today',
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
  tag,
  auth,
  body: z.object({ day: SpendLimits.optional(), conversation: SpendLimits.optional() }),
  response: ChatBudget,
})

/** Chat spending of one group. */
export const SpendRow = Spend.extend({
  /** A day (`2026-11-22`), a model, or the id of a conversation. */
  key: z.string(),
  /** Display name. For a deleted conversation its last title. */
  label: z.string(),
})
export type SpendRow = z.infer<typeof SpendRow>

const Day = z.iso.date('must be a day such as 2026-11-22')

export const sumChatSpend = defineRoute({
  operation: 'chatSpendSum',
  method: 'GET',
  path: '/local/chat/spend',
  summary: 'What chats cost, by day, model or conversation',
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
