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

/** Messages of a conversation form a tree, in which edits and alternative responses are siblings. */

/** Fixes that the window offers for an error. Only `retry` is useful without changes. */
export const ChatFix = z.enum(['provider_key', 'replace_key', 'credits', 'limit', 'retry', 'model', 'shorten'])
export type ChatFix = z.infer<typeof ChatFix>

/** Error that ended an assistant message. */
export const ChatFailure = z.object({
  /** Error code, such as `budget/exceeded`, `inference/unconfigured`, `inference/credits` or `inference/rate`. */
  code: z.string(),
  message: z.string(),
  hint: z.string().nullable(),
  fix: ChatFix.nullable(),
})
export type ChatFailure = z.infer<typeof ChatFailure>

/** Tokens and cost of an assistant message, over all steps of its run. Costs are in micro-dollars. */
export const MessageUsage = z.object({
  input_tokens: z.int(),
  /** Input tokens read from the provider's cache. */
  cached_tokens: z.int(),
  /** Output tokens, including reasoning. */
  output_tokens: z.int(),
  reasoning_tokens: z.int(),
  cost_micro_usd: z.int(),
  /** Savings by cached tokens. Negative if writing the cache cost more. */
  saved_micro_usd: z.int(),
  /** Whether the cost is an estimate: while the message is streamed, or if no exact amount was reported. */
  estimated: z.boolean(),
})
export type MessageUsage = z.infer<typeof MessageUsage>

/** Message of a conversation. Messages form a tree by `parent_id`. */
export const Message = z.object({
  id: MessageId,
  conversation_id: ConversationId,
  parent_id: MessageId.nullable(),
  /** Position in the branch, starting with 1. */
  position: z.int(),
  role: z.enum(['user', 'assistant']),
  /**
   * State of an assistant message. `waiting`: until the first delta, then `streaming`. `stopped`: by the user.
   * `interrupted`: by an exit of Steward. `failed`: with an error. Text received before the end is stored in every
   * state.
   */
  state: z.enum(['complete', 'waiting', 'streaming', 'stopped', 'interrupted', 'failed']),
  /** Model of an assistant message. Null for other messages. */
  model: z.string().nullable(),
  text: z.string(),
  reasoning: z.string(),
  /** Tool calls of an assistant message, in order. */
  calls: z.array(ChatCall),
  attachments: z.array(Attachment),
  /** All messages with the same parent, oldest first, including this one. */
  sibling_ids: z.array(MessageId),
  /** Shared by assistant messages that were requested together. Null if requested alone. */
  group_id: z.string().nullable(),
  error: ChatFailure.nullable(),
  usage: MessageUsage.nullable(),
  /** `stop`, `length`, `content_filter`, `step_limit`, `turn_limit`, or the provider's reason. */
  finish_reason: z.string().nullable(),
  /** Number of oldest messages omitted because the context of the model is full. */
  omitted_messages: z.int(),
  /** Maximum output tokens allowed by the limits, if lower than requested. Assistant messages only. */
  clamped_max_tokens: z.int().nullable(),
  /** Parameters or content that were changed or omitted for the provider. */
  warnings: z.array(z.string()),
  created_at: IsoTime,
  /** Null while the message is in progress. */
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
  summary: 'List the messages of a branch, in pages from its end',
  description:
    'Positions in a branch never change. `before` and `limit` select any range. Without `before`, returns the last messages.',
  tag,
  auth,
  params: ConversationParams,
  query: z.object({
    /** Last message of the branch. Default: the selected branch. */
    leaf_id: MessageId.optional(),
    /** Only messages with a smaller position. */
    before: z.coerce.number().int().min(1).optional(),
    limit: z.coerce.number().int().min(1).max(500).default(50),
  }),
  response: z.object({
    /** Ordered by position. */
    messages: z.array(Message),
    /** Other assistant messages of the groups (`group_id`) on this page. */
    beside: z.array(Message),
    /** Number of messages in the branch. */
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
    '`leaf_id` is the last message of the newest branch through the message. Fails with 404 `chat/message-not-found`, also if the conversation is deleted.',
  tag,
  auth,
  params: MessageParams,
  response: z.object({
    message: Message,
    conversation: ConversationSummary,
    /** Last message of the newest branch through this message. For `GET …/messages?leaf_id=`. */
    leaf_id: MessageId,
  }),
})

/** Idempotency key: a repetition returns the messages of the first request and sends nothing. */
const RequestId = z
  .string()
  .min(8, 'must have at least 8 characters')
  .max(64, 'must have at most 64 characters')
  .optional()

/** Messages created by one request: the user's, and one assistant message per model. */
export const SentMessages = z.object({
  user: Message.nullable(),
  /** In the order of the models. */
  answers: z.array(Message),
  /** Limits that have reached their warning threshold. */
  warnings: z.array(LimitState),
})
export type SentMessages = z.infer<typeof SentMessages>

export const sendMessage = defineRoute({
  operation: 'messageSend',
  method: 'POST',
  path: '/local/chat/conversations/:conversationId/messages',
  summary: 'Send a message and start the assistant messages',
  description:
    'Returns the messages immediately. `GET /local/chat/messages/:id/stream` streams each assistant message, which continues without a connected client. First reserves the maximum cost of all assistant messages. Fails with 402 `budget/exceeded` and sends nothing if a limit leaves too little.',
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
    /** Null for a first message. If the parent already has a user message, this message is an edit of that one. */
    parent_id: MessageId.nullable(),
    text: z.string().max(chatLimits.textCharacters, `must have at most ${chatLimits.textCharacters} characters`),
    attachment_ids: z
      .array(AttachmentId)
      .max(chatLimits.attachments, `must name at most ${chatLimits.attachments} attachments`)
      .default([]),
    /** Default: the models of the conversation. If set, they also become the models of the conversation. */
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
  summary: 'Create alternative or additional assistant messages',
  description:
    'For an assistant message, creates a sibling; for a user message, creates further replies. Existing messages stay as siblings. A repeated `request_id` returns the first messages. Models default to the model of the assistant message, or to those of the conversation. Fails with 402 `budget/exceeded` if a limit leaves too little.',
  example: { model: 'claude-sonnet-4.5', request_id: 'again-2026-11-22-1' },
  tag,
  auth,
  params: MessageParams,
  /** Default: the model of this message, or the models of the conversation. */
  body: z.object({ model: ModelName.optional(), models: ModelNames.optional(), request_id: RequestId }),
  response: SentMessages,
  status: 201,
  refusals: [402, 409, 503],
})

export const stopMessage = defineRoute({
  operation: 'messageStop',
  method: 'POST',
  path: '/local/chat/messages/:messageId/stop',
  summary: 'Stop an assistant message',
  description:
    'Stores the text received so far. A completed assistant message does not change. The response can still show `streaming`: the stream of the message ends with the final state.',
  tag,
  auth,
  params: MessageParams,
  response: Message,
})

/**
 * Server-sent events of an assistant message, as JSON in `data`. `snapshot` comes first, with the content so far.
 * `delta` appends to the text. `end` comes last, with the complete message. A slow client receives longer deltas, and
 * none is lost. A client that reconnects starts with a snapshot.
 */
export const MessageEvent = z.discriminatedUnion('type', [
  z.object({ type: z.literal('snapshot'), message: Message }),
  z.object({
    type: z.literal('delta'),
    text: z.string(),
    reasoning: z.string(),
    /** Estimated usage so far. */
    usage: MessageUsage,
  }),
  /** Tool calls that started or changed. */
  z.object({ type: z.literal('calls'), calls: z.array(ChatCall), usage: MessageUsage }),
  z.object({ type: z.literal('end'), message: Message }),
])
export type MessageEvent = z.infer<typeof MessageEvent>

export const streamMessage = defineRoute({
  operation: 'messageStream',
  method: 'GET',
  path: '/local/chat/messages/:messageId/stream',
  summary: 'Stream an assistant message (server-sent events)',
  description:
    'Each event has JSON in `data`. The first is `{"type":"snapshot","message"}`. `{"type":"delta","text","reasoning","usage"}` follows with new content, and `{"type":"calls","calls","usage"}` with tool calls that began or changed. The last is `{"type":"end","message"}`. A client that reconnects receives a new snapshot first, so it misses nothing.',
  tag,
  auth,
  params: MessageParams,
  response: z.unknown(),
  raw: { response: { mediaTypes: ['text/event-stream'], description: 'The events.' }, headers: {} },
})
