import { z } from 'zod'
import { IsoTime } from '../time.ts'
import { Attachment } from './chatLibrary.ts'
import {
  AttachmentId,
  ConversationId,
  ConversationParams,
  ConversationSummary,
  chatLimits,
  LimitState,
  MessageId,
  ModelName,
  ModelNames,
} from './chats.ts'
import { ChatCall } from './chatTools.ts'
import { defineRoute } from './route.ts'

/** Messages of a conversation: a tree, in which edits and further answers are siblings. */

/** Remedies that the window offers for an error. Only `retry` is worth repeating unchanged. */
export const ChatFix = z.enum(['provider_key', 'replace_key', 'credits', 'limit', 'retry', 'model', 'shorten'])
export type ChatFix = z.infer<typeof ChatFix>

/** Reason why an answer failed. */
export const ChatFailure = z.object({
  /** `budget/exceeded`, `inference/unconfigured`, `inference/credits`, `inference/rate`, … */
  code: z.string(),
  message: z.string(),
  hint: z.string().nullable(),
  fix: ChatFix.nullable(),
})
export type ChatFailure = z.infer<typeof ChatFailure>

/** Tokens and cost of an answer. */
export const AnswerUsage = z.object({
  input_tokens: z.int(),
  /** Input tokens read from the cache of the provider. */
  cached_tokens: z.int(),
  /** Reasoning included. */
  output_tokens: z.int(),
  reasoning_tokens: z.int(),
  cost_micro_usd: z.int(),
  /** Savings by cached tokens. Negative while writing the cache cost more. */
  saved_micro_usd: z.int(),
  /** Whether the cost is an estimate: while the answer is in progress, or when no exact amount was reported. */
  estimated: z.boolean(),
})
export type AnswerUsage = z.infer<typeof AnswerUsage>

/** Message of a conversation. Messages form a tree by `parent_id`. */
export const Message = z.object({
  id: MessageId,
  conversation_id: ConversationId,
  parent_id: MessageId.nullable(),
  /** In its branch: the first message has 1. */
  position: z.int(),
  role: z.enum(['user', 'assistant']),
  /**
   * State of an answer. `waiting`: until the first chunk, then `streaming`. `stopped`: by the user. `interrupted`: by an
   * exit of Steward. `failed`: with an error. Text received before the end is stored in every state.
   */
  state: z.enum(['complete', 'waiting', 'streaming', 'stopped', 'interrupted', 'failed']),
  /** Model of an answer. Null for other messages. */
  model: z.string().nullable(),
  text: z.string(),
  reasoning: z.string(),
  /** Tool calls of an answer, in order. */
  calls: z.array(ChatCall),
  attachments: z.array(Attachment),
  /** All messages with the same parent, oldest first, this one among them. */
  sibling_ids: z.array(MessageId),
  /** Answers that were asked for at once have the same. Null: it was asked for alone. */
  group_id: z.string().nullable(),
  error: ChatFailure.nullable(),
  usage: AnswerUsage.nullable(),
  /** `stop`, `length`, `content_filter`, `step_limit`, `turn_limit`, or what the provider said. */
  finish_reason: z.string().nullable(),
  /** Number of oldest messages left out because the context of the model is full. */
  omitted_messages: z.int(),
  /** Output tokens that the limits allowed, if fewer than requested. Answers only. */
  clamped_max_tokens: z.int().nullable(),
  /** Parameters or content changed or left out for the provider. */
  warnings: z.array(z.string()),
  created_at: IsoTime,
  /** Null while it is being made. */
  finished_at: IsoTime.nullable(),
})
export type Message = z.infer<typeof Message>

const tag = 'Chat'
const auth = 'person'
const MessageParams = z.object({ messageId: MessageId })

export const listMessages = defineRoute({
  operation: 'messageList',
  method: 'GET',
  path: '/local/chat/conversations/:conversationId/messages',
  summary: 'List the messages of a branch, page by page from its end',
  description:
    'Positions of a branch never change: any part of it is read by `before` and `limit`, the last messages without `before`.',
  tag,
  auth,
  params: ConversationParams,
  query: z.object({
    /** Last message of the branch. Default: the selected branch. */
    leaf_id: MessageId.optional(),
    /** Only messages of a smaller position. */
    before: z.coerce.number().int().min(1).optional(),
    limit: z.coerce.number().int().min(1).max(500).default(50),
  }),
  response: z.object({
    /** In the order of their positions. */
    messages: z.array(Message),
    /** Other answers of the groups (`group_id`) on this page. */
    beside: z.array(Message),
    /** Number of messages of the whole branch. */
    total: z.int(),
    leaf_id: MessageId.nullable(),
  }),
})

export const getMessage = defineRoute({
  operation: 'chatMessageGet',
  method: 'GET',
  path: '/local/chat/messages/:messageId',
  summary: 'Get a message with its conversation and its branch',
  description:
    '`leaf_id` is the end of the newest branch through the message. Fails with 404 `chat/message-not-found`, also if the conversation is deleted.',
  tag,
  auth,
  params: MessageParams,
  response: z.object({
    message: Message,
    conversation: ConversationSummary,
    /** The end of the newest branch through it: for `GET …/messages?leaf_id=`. */
    leaf_id: MessageId,
  }),
})

/** Says it once: a repetition gets the messages of the first time and sends nothing. */
const RequestId = z
  .string()
  .min(8, 'must have at least 8 characters')
  .max(64, 'must have at most 64 characters')
  .optional()

/** Messages created by one send: the user's, and one answer for each model. */
export const SentMessages = z.object({
  user: Message.nullable(),
  /** In the order of the models. */
  answers: z.array(Message),
  /** Limits at which a warning is due. */
  warnings: z.array(LimitState),
})
export type SentMessages = z.infer<typeof SentMessages>

export const sendMessage = defineRoute({
  operation: 'messageSend',
  method: 'POST',
  path: '/local/chat/conversations/:conversationId/messages',
  summary: 'Send a message and request its answers',
  description:
    'Answers at once with the messages; `GET /local/chat/messages/:id/stream` tells how each answer grows. It goes on whether anybody looks or not. The most that all answers can cost is reserved first: where a limit leaves too little, nothing is sent (402, `budget/exceeded`).',
  example: {
    parent_id: null,
    text: 'Which of these files changed today?',
    models: ['gpt-5.2'],
    request_id: 'send-2026-11-22-1',
  },
  tag,
  auth,
  params: ConversationParams,
  body: z.object({
    /** Null for a first message. If the parent has another message of the user already, this message is an edit of that one. */
    parent_id: MessageId.nullable(),
    text: z.string().max(chatLimits.textCharacters, `must have at most ${chatLimits.textCharacters} characters`),
    attachment_ids: z
      .array(AttachmentId)
      .max(chatLimits.attachments, `must name at most ${chatLimits.attachments} attachments`)
      .default([]),
    /** Absent: those of the conversation. Given, they become those of the conversation. */
    models: ModelNames.optional(),
    request_id: RequestId,
  }),
  response: SentMessages,
  status: 201,
  refusals: [402, 409, 503],
  maxBodyBytes: 8 * 1024 ** 2,
})

export const regenerateMessage = defineRoute({
  operation: 'messageRegenerate',
  method: 'POST',
  path: '/local/chat/messages/:messageId/regenerate',
  summary: 'Create another answer beside this one, or further answers to a user message',
  description:
    'Existing answers stay as siblings; a repeated `request_id` returns the first answers. Models default to that of the answer, or to those of the conversation. Fails with 402 `budget/exceeded` if a limit leaves too little.',
  example: { model: 'claude-sonnet-4.5', request_id: 'again-2026-11-22-1' },
  tag,
  auth,
  params: MessageParams,
  /** Absent: the model of this answer, or those of the conversation. */
  body: z.object({ model: ModelName.optional(), models: ModelNames.optional(), request_id: RequestId }),
  response: SentMessages,
  status: 201,
  refusals: [402, 409, 503],
})

export const stopMessage = defineRoute({
  operation: 'messageStop',
  method: 'POST',
  path: '/local/chat/messages/:messageId/stop',
  summary: 'Stop an answer',
  description:
    'Stores the text received so far; an answer that has ended does not change. The response can still show `streaming`: the stream of the answer ends with the final state.',
  tag,
  auth,
  params: MessageParams,
  response: Message,
})

/**
 * The server-sent events of an answer, each with one of these as JSON in `data`. `snapshot` comes first and has all that
 * is there; `delta` has what came since, and the text is put behind what one has; `end` is last, with the whole message.
 * Who falls behind gets longer deltas, and none is lost. Who comes again begins with a snapshot.
 */
export const AnswerEvent = z.discriminatedUnion('type', [
  z.object({ type: z.literal('snapshot'), message: Message }),
  z.object({
    type: z.literal('delta'),
    text: z.string(),
    reasoning: z.string(),
    /** So far, estimated. */
    usage: AnswerUsage,
  }),
  /** These calls began or changed. */
  z.object({ type: z.literal('calls'), calls: z.array(ChatCall), usage: AnswerUsage }),
  z.object({ type: z.literal('end'), message: Message }),
])
export type AnswerEvent = z.infer<typeof AnswerEvent>

export const streamMessage = defineRoute({
  operation: 'messageStream',
  method: 'GET',
  path: '/local/chat/messages/:messageId/stream',
  summary: 'Stream an answer (server-sent events)',
  description:
    'Every event has JSON in `data`: `{"type":"snapshot","message"}` first, then `{"type":"delta","text","reasoning","usage"}` with what came since, `{"type":"calls","calls","usage"}` with calls of tools that began or changed, and `{"type":"end","message"}` last. Who comes again begins with a snapshot, so nothing is missed.',
  tag,
  auth,
  params: MessageParams,
  response: z.unknown(),
  raw: { response: { mediaTypes: ['text/event-stream'], description: 'The events.' }, headers: {} },
})
