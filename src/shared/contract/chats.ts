import { z } from 'zod'
import type { ErrorCode } from '../appError.ts'
import { unknownIds } from '../ids.ts'
import { IsoTime } from '../time.ts'
import { ChatTools } from './chatTools.ts'
import { defineRoute, QueryFlag } from './route.ts'

/**
 * Conversations with models in the local agent's API. They are stored on the user's computer, independent of the
 * service. Messages are in `chatMessages.ts`, limits and totals in `chatMoney.ts`, prompts, attachments, imports and
 * exports in `chatLibrary.ts`.
 */

/** `<prefix>_` and 24 lower-case hexadecimal characters. */
const createIdSchema = (prefix: string, code: ErrorCode, subject: string) =>
  z
    .string()
    .regex(new RegExp(`^${prefix}_[0-9a-f]{24}$`), `must be an id that begins with ${prefix}_`)
    .register(unknownIds, { code, message: (input) => `There is no ${subject} ${input}.` })

/** Id of a conversation: `conv_` and hexadecimal digits. */
export const ConversationId = createIdSchema('conv', 'chat/not-found', 'conversation').brand<'ConversationId'>()
export type ConversationId = z.infer<typeof ConversationId>
/** Id of a message: `msg_` and hexadecimal digits. */
export const MessageId = createIdSchema('msg', 'chat/message-not-found', 'message').brand<'MessageId'>()
export type MessageId = z.infer<typeof MessageId>
/** Id of a folder: `fold_` and hexadecimal digits. */
export const FolderId = createIdSchema('fold', 'chat/folder-not-found', 'folder').brand<'FolderId'>()
export type FolderId = z.infer<typeof FolderId>
/** Id of an attachment: `att_` and hexadecimal digits. */
export const AttachmentId = createIdSchema('att', 'chat/attachment-not-found', 'attachment').brand<'AttachmentId'>()
export type AttachmentId = z.infer<typeof AttachmentId>
/** Id of a prompt: `prm_` and hexadecimal digits. */
export const PromptId = createIdSchema('prm', 'chat/prompt-not-found', 'prompt').brand<'PromptId'>()
export type PromptId = z.infer<typeof PromptId>

/** Limits of conversations, messages, attachments and imports. */
export const chatLimits = {
  /** Models that respond in parallel. */
  models: 4,
  titleCharacters: 200,
  systemPromptCharacters: 200_000,
  /** Maximum length of a typed message. Longer texts become attachments. */
  textCharacters: 1_000_000,
  attachments: 20,
  imageBytes: 20 * 1024 ** 2,
  textBytes: 1024 ** 2,
  importBytes: 100 * 1024 ** 2,
  /** Time during which a deleted conversation can be restored. */
  restorableMs: 24 * 3600 * 1000,
} as const

/** Name of a model, as `GET /v1/models` lists it. */
export const ModelName = z.string().trim().min(1, 'must not be empty').max(200, 'must have at most 200 characters')
/** Distinct models that respond in parallel. */
export const ModelNames = z
  .array(ModelName)
  .min(1, 'must name a model')
  .max(chatLimits.models, `must name at most ${chatLimits.models} models`)
  .refine((names) => new Set(names).size === names.length, 'must name each model once')

/**
 * Null uses the provider's default. Parameters that a model does not support are omitted, which its message reports.
 */
export const ChatParameters = z.object({
  temperature: z.number().min(0, 'must be from 0 to 2').max(2, 'must be from 0 to 2').nullable(),
  top_p: z.number().min(0, 'must be from 0 to 1').max(1, 'must be from 0 to 1').nullable(),
  /** Maximum output tokens, including reasoning. */
  max_tokens: z.int('must be a whole number of tokens').min(1, 'must be at least 1').max(10_000_000).nullable(),
  reasoning_effort: z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']).nullable(),
  stop: z.array(z.string().min(1, 'must not be empty').max(200)).max(4, 'must have at most 4 texts').nullable(),
  seed: z.int('must be a whole number').nullable(),
})
export type ChatParameters = z.infer<typeof ChatParameters>
/** Parameters that are all left to the provider. */
export const noParameters: ChatParameters = {
  temperature: null,
  top_p: null,
  max_tokens: null,
  reasoning_effort: null,
  stop: null,
  seed: null,
}

const MicroUsdLimit = z
  .int('must be a whole number of micro-dollars')
  .min(0, 'must not be negative')
  .max(1_000_000_000_000, 'must be at most a million dollars')
/** Limits in micro-dollars. Reaching `soft` shows a warning; nothing is sent beyond `hard`. Null: no limit */
export const SpendLimits = z.object({
  soft_micro_usd: MicroUsdLimit.nullable(),
  hard_micro_usd: MicroUsdLimit.nullable(),
})
export type SpendLimits = z.infer<typeof SpendLimits>

/** Cost in micro-dollars and tokens, summed over messages. */
export const Spend = z.object({
  cost_micro_usd: z.int(),
  /** Savings by cached tokens. Negative if writing the cache cost more. */
  saved_micro_usd: z.int(),
  input_tokens: z.int(),
  /** Input tokens read from the provider's cache. */
  cached_tokens: z.int(),
  /** Output tokens, including reasoning. */
  output_tokens: z.int(),
  answers: z.int().describe('Number of assistant messages included.'),
  /** Whether at least one amount is an estimate. */
  estimated: z.boolean(),
})
export type Spend = z.infer<typeof Spend>

/** Limit and its current usage. */
export const LimitState = z.object({
  scope: z.enum(['conversation', 'day']),
  spent_micro_usd: z.int(),
  /** Maximum cost of assistant messages in progress. */
  reserved_micro_usd: z.int(),
  soft_micro_usd: z.int().nullable(),
  hard_micro_usd: z.int().nullable(),
  /** `warning` at the soft limit, `stopped` at the hard limit. */
  state: z.enum(['within', 'warning', 'stopped']),
})
export type LimitState = z.infer<typeof LimitState>

/** Title of a conversation: 1 to 200 characters after trimming, on one line. */
export const Title = z
  .string()
  .trim()
  .min(1, 'must not be empty')
  .max(chatLimits.titleCharacters, `must have at most ${chatLimits.titleCharacters} characters`)
  .regex(/^[^\p{Cc}\p{Cs}]*$/u, 'must not contain control characters')

/** Conversation in a list, without its settings. */
export const ConversationSummary = z.object({
  id: ConversationId,
  title: z.string(),
  folder_id: FolderId.nullable(),
  pinned: z.boolean(),
  /** Models for the next message. Empty if no model is selected. */
  models: z.array(z.string()),
  message_count: z.int(),
  cost_micro_usd: z.int(),
  cost_estimated: z.boolean().describe('Whether part of the cost is an estimate.'),
  /** Number of assistant messages in progress. */
  answering: z.int(),
  created_at: IsoTime,
  /** Time of the last message. */
  updated_at: IsoTime,
})
export type ConversationSummary = z.infer<typeof ConversationSummary>

/** Conversation with its settings, without its messages. */
export const Conversation = ConversationSummary.extend({
  system_prompt: z.string(),
  parameters: ChatParameters,
  tools: ChatTools,
  /** Last message of the selected branch. Null if there are no messages. */
  leaf_id: MessageId.nullable(),
  /** Limits of this conversation. Null: the default of `GET /local/chat/budget` applies. */
  limits: SpendLimits.nullable(),
  notice: z
    .string()
    .nullable()
    .describe('One sentence for the user, for example after the sandbox was deleted. Null if there is no notice.'),
  budget: z.array(LimitState).describe('Limits of the conversation and of the day that apply to the next message.'),
  spend: Spend,
  forked_from: z.object({ conversation_id: ConversationId, message_id: MessageId }).nullable(),
  /** Application that the conversation was imported from. */
  source: z.enum(['chatgpt', 'claude', 'librechat', 'open-webui']).nullable(),
})
export type Conversation = z.infer<typeof Conversation>

const tag = 'Chat'
const auth = 'person'
export const ConversationParams = z.object({ conversationId: ConversationId })

const settings = {
  title: Title.optional(),
  folder_id: FolderId.nullable().optional(),
  pinned: z.boolean().optional(),
  models: ModelNames.optional(),
  system_prompt: z
    .string()
    .max(chatLimits.systemPromptCharacters, `must have at most ${chatLimits.systemPromptCharacters} characters`)
    .optional(),
  /** Parameters to change. Absent parameters are unchanged. */
  parameters: ChatParameters.partial().optional(),
  tools: ChatTools.partial().optional(),
  limits: SpendLimits.nullable().optional(),
}

export const listConversations = defineRoute({
  operation: 'conversationList',
  method: 'GET',
  path: '/local/chat/conversations',
  summary: 'List conversations: pinned first, then by last message',
  description:
    'Omits deleted conversations. `total` counts the matches on all pages; `next_cursor` is null on the last page. Fails with 400 `request/invalid` for an invalid `cursor`.',
  tag,
  auth,
  query: z.object({
    /** `none`: conversations without a folder. */
    folder_id: FolderId.or(z.literal('none')).optional(),
    pinned: QueryFlag.optional(),
    /** `next_cursor` of the previous page. */
    cursor: z.string().max(200).optional(),
    limit: z.coerce.number().int().min(1).max(200).default(50),
  }),
  response: z.object({
    conversations: z.array(ConversationSummary),
    next_cursor: z.string().nullable(),
    /** Number of matches on all pages. */
    total: z.int(),
  }),
})

export const createConversation = defineRoute({
  operation: 'conversationCreate',
  method: 'POST',
  path: '/local/chat/conversations',
  summary: 'Create a conversation',
  description: 'The default title is “New chat”. After the first message, the title is the beginning of that message.',
  example: { title: 'Release notes', models: ['gpt-5.2'], parameters: { temperature: 0.2 } },
  tag,
  auth,
  body: z.object(settings),
  response: Conversation,
  status: 201,
  maxBodyBytes: 2 * 1024 ** 2,
  refusals: [404],
})

export const getConversation = defineRoute({
  operation: 'conversationGet',
  method: 'GET',
  path: '/local/chat/conversations/:conversationId',
  summary: 'Get a conversation without its messages',
  description:
    '`budget` shows the limits that apply to the next message, `spend` the cost so far. Fails with 404 `chat/not-found`, also for a deleted conversation.',
  tag,
  auth,
  params: ConversationParams,
  response: Conversation,
})

export const changeConversation = defineRoute({
  operation: 'conversationChange',
  method: 'PATCH',
  path: '/local/chat/conversations/:conversationId',
  summary: 'Rename, move, pin or configure a conversation, or select another branch',
  description:
    'Leaves absent fields unchanged, also within `parameters` and `tools`. `leaf_id` selects the newest branch through that message. Fails with 404 `chat/folder-not-found` or `chat/message-not-found`.',
  example: { title: 'Release notes', pinned: true },
  tag,
  auth,
  params: ConversationParams,
  /** `leaf_id`: any message of the conversation. The newest branch below it is selected. */
  body: z.object({
    ...settings,
    leaf_id: MessageId.optional(),
    notice: z.null().optional().describe('Dismisses the notice if null.'),
  }),
  response: Conversation,
  maxBodyBytes: 2 * 1024 ** 2,
})

export const deleteConversation = defineRoute({
  operation: 'conversationDelete',
  method: 'DELETE',
  path: '/local/chat/conversations/:conversationId',
  summary: 'Delete a conversation',
  description:
    'The conversation can be restored for 1 day. Stops assistant messages in progress. The cost of the conversation still counts in the totals of days and models.',
  tag,
  auth,
  params: ConversationParams,
  response: z.object({ success: z.literal(true), id: ConversationId, restorable_until: IsoTime }),
})

export const restoreConversation = defineRoute({
  operation: 'conversationRestore',
  method: 'POST',
  path: '/local/chat/conversations/:conversationId/restore',
  summary: 'Restore a deleted conversation',
  description: `Has no effect on a conversation that is not deleted. Fails with 404 \`chat/not-found\` after permanent removal, at the earliest ${chatLimits.restorableMs / 3_600_000} hours after deletion. Stopped assistant messages stay stopped.`,
  tag,
  auth,
  params: ConversationParams,
  response: Conversation,
})

export const forkConversation = defineRoute({
  operation: 'conversationFork',
  method: 'POST',
  path: '/local/chat/conversations/:conversationId/fork',
  summary: 'Copy a branch up to a message into a new conversation',
  description:
    'Copies settings, attachments and tool calls. Costs stay with the original conversation. Fails with 409 `chat/message` for an assistant message in progress.',
  example: { message_id: 'msg_8b1d5e2f4a6c70918d3e5f7a' },
  tag,
  auth,
  params: ConversationParams,
  body: z.object({ message_id: MessageId }),
  response: Conversation,
  refusals: [409],
  status: 201,
})

/** Part of a snippet. `hit`: whether it matches the search. */
export const SnippetPart = z.object({ text: z.string(), hit: z.boolean() })
export type SnippetPart = z.infer<typeof SnippetPart>

/** Search result: a title, or an excerpt of a message. */
export const ChatHit = z.object({
  conversation_id: ConversationId,
  title: z.string(),
  /** Null if the title matches. */
  message_id: MessageId.nullable(),
  role: z.enum(['user', 'assistant']).nullable(),
  snippet: z.array(SnippetPart),
  at: IsoTime,
})
export type ChatHit = z.infer<typeof ChatHit>

export const searchConversations = defineRoute({
  operation: 'conversationSearch',
  method: 'GET',
  path: '/local/chat/search',
  summary: 'Search titles and messages of all conversations',
  description:
    'Matches messages and titles that contain every word. The last word matches as a prefix. Text in "quotes" matches exactly.',
  tag,
  auth,
  query: z.object({
    q: z.string().trim().min(1, 'must not be empty').max(200, 'must have at most 200 characters'),
    conversation_id: ConversationId.optional(),
    offset: z.coerce.number().int().min(0).max(10_000).default(0),
    limit: z.coerce.number().int().min(1).max(100).default(30),
  }),
  response: z.object({ hits: z.array(ChatHit), has_more: z.boolean() }),
})

/** Folder with its number of conversations, without deleted ones. */
export const Folder = z.object({ id: FolderId, name: z.string(), conversations: z.int() })
export type Folder = z.infer<typeof Folder>
const FolderParams = z.object({ folderId: FolderId })

export const listFolders = defineRoute({
  operation: 'chatFolderList',
  method: 'GET',
  path: '/local/chat/folders',
  summary: 'List the folders of conversations, by name',
  description:
    'Returns all folders without pagination. `conversations` does not count deleted ones. Sorting is case-insensitive.',
  tag,
  auth,
  response: z.object({ folders: z.array(Folder) }),
})

export const createFolder = defineRoute({
  operation: 'chatFolderCreate',
  method: 'POST',
  path: '/local/chat/folders',
  summary: 'Create a folder',
  description:
    'Folders cannot be nested, and names need not be unique. Set `folder_id` of a conversation to move it into the folder.',
  example: { name: 'Research' },
  tag,
  auth,
  body: z.object({ name: Title }),
  response: Folder,
  status: 201,
})

export const changeFolder = defineRoute({
  operation: 'chatFolderChange',
  method: 'PATCH',
  path: '/local/chat/folders/:folderId',
  summary: 'Rename a folder',
  description: 'Names need not be unique. Fails with 404 `chat/folder-not-found`.',
  example: { name: 'Archive' },
  tag,
  auth,
  params: FolderParams,
  body: z.object({ name: Title }),
  response: Folder,
})

export const deleteFolder = defineRoute({
  operation: 'chatFolderDelete',
  method: 'DELETE',
  path: '/local/chat/folders/:folderId',
  summary: 'Delete a folder without its conversations',
  description: 'Sets `folder_id` of its conversations to null. Fails with 404 `chat/folder-not-found`.',
  tag,
  auth,
  params: FolderParams,
  response: z.object({ success: z.literal(true), id: FolderId }),
})
