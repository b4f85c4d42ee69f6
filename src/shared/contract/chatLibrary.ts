import { z } from 'zod'
import { IsoTime } from '../time.ts'
import { AttachmentId, ConversationParams, chatLimits, PromptId, Title } from './chats.ts'
import { defineRoute } from './route.ts'

/** Attachments, prompts, exports, and imports from other programs. */

const tag = 'Chat'
const auth = 'person'

/** File attached to a message. `size` is in bytes. */
export const Attachment = z.object({
  id: AttachmentId,
  name: z.string(),
  kind: z.enum(['image', 'text']),
  /** Detected from the bytes: `image/png`, `image/jpeg`, `image/webp`, `image/gif` or `text/plain`. */
  media_type: z.string(),
  size: z.int(),
})
export type Attachment = z.infer<typeof Attachment>
const AttachmentParams = z.object({ attachmentId: AttachmentId })

export const addAttachment = defineRoute({
  operation: 'chatAttachmentAdd',
  method: 'POST',
  path: '/local/chat/attachments',
  summary: 'Upload an image (PNG, JPEG, WebP, GIF) or a text file for a message',
  description:
    'Detects the type from the content, not from the file name. Images can have at most 20 MB, text files (UTF-8) 1 MB. Attachments that no message uses are deleted after 1 day.',
  tag,
  auth,
  query: z.object({ name: z.string().trim().min(1, 'must not be empty').max(255, 'must have at most 255 characters') }),
  response: Attachment,
  status: 201,
  maxBodyBytes: chatLimits.imageBytes,
  raw: { request: 'application/octet-stream', headers: {} },
})

export const getAttachmentContent = defineRoute({
  operation: 'chatAttachmentContent',
  method: 'GET',
  path: '/local/chat/attachments/:attachmentId/content',
  summary: 'Get the content of an attachment',
  description:
    'Serves images inline with their media type, and text files as a download of type `application/octet-stream`. Browsers may cache the response for a year. Fails with 404 `chat/attachment-not-found`.',
  tag,
  auth,
  params: AttachmentParams,
  response: z.unknown(),
  raw: {
    response: {
      mediaTypes: ['image/png', 'image/jpeg', 'image/webp', 'image/gif', 'application/octet-stream'],
      description: 'Images unchanged, or text files as a download. Browsers do not run the content.',
    },
    headers: {},
  },
})

/** Prompt template. Names in `{{ }}` are variables. */
export const Prompt = z.object({
  id: PromptId,
  title: z.string(),
  text: z.string(),
  /** Distinct names, in order of appearance. */
  variables: z.array(z.string()),
  updated_at: IsoTime,
})
export type Prompt = z.infer<typeof Prompt>
const PromptParams = z.object({ promptId: PromptId })
const PromptText = z
  .string()
  .trim()
  .min(1, 'must not be empty')
  .max(chatLimits.systemPromptCharacters, `must have at most ${chatLimits.systemPromptCharacters} characters`)
const promptBytes = 2 * 1024 ** 2

export const listPrompts = defineRoute({
  operation: 'promptList',
  method: 'GET',
  path: '/local/chat/prompts',
  summary: 'List prompts, by title',
  description: 'Returns all prompts without pagination. Sorting is case-insensitive.',
  tag,
  auth,
  response: z.object({ prompts: z.array(Prompt) }),
})

export const createPrompt = defineRoute({
  operation: 'promptCreate',
  method: 'POST',
  path: '/local/chat/prompts',
  summary: 'Create a prompt',
  description: `Names in \`{{ }}\` become \`variables\`. Titles need not be unique. The text has at most ${chatLimits.systemPromptCharacters} characters.`,
  example: { title: 'Summarize a page', text: 'Summarize {{page}} in five sentences.' },
  tag,
  auth,
  body: z.object({ title: Title, text: PromptText }),
  response: Prompt,
  status: 201,
  maxBodyBytes: promptBytes,
})

export const changePrompt = defineRoute({
  operation: 'promptChange',
  method: 'PATCH',
  path: '/local/chat/prompts/:promptId',
  summary: 'Change a prompt',
  description: 'Leaves absent fields unchanged. Fails with 404 `chat/prompt-not-found`.',
  example: { title: 'Summarize an article' },
  tag,
  auth,
  params: PromptParams,
  body: z.object({ title: Title.optional(), text: PromptText.optional() }),
  response: Prompt,
  maxBodyBytes: promptBytes,
})

export const deletePrompt = defineRoute({
  operation: 'promptDelete',
  method: 'DELETE',
  path: '/local/chat/prompts/:promptId',
  summary: 'Delete a prompt',
  description:
    'Deletes the prompt permanently; existing messages do not change. Fails with 404 `chat/prompt-not-found`.',
  tag,
  auth,
  params: PromptParams,
  response: z.object({ success: z.literal(true), id: PromptId }),
})

/** Programs whose exports can be imported. */
export const ImportFormat = z.enum(['chatgpt', 'claude', 'librechat', 'open-webui'])
export type ImportFormat = z.infer<typeof ImportFormat>

export const importConversations = defineRoute({
  operation: 'conversationImport',
  method: 'POST',
  path: '/local/chat/imports',
  summary: 'Import an export from ChatGPT, Claude, LibreChat or Open WebUI',
  description:
    'The body is the unpacked JSON file of the export, at most 100 MB. Steward detects the format from the content. Importing the same file again changes nothing. Existing conversations stay unchanged, except that new messages are added.',
  tag,
  auth,
  response: z.object({
    format: ImportFormat,
    /** Number of conversations in the file. */
    found: z.int(),
    imported: z.int(),
    /** Number of conversations that existed and received new messages. */
    extended: z.int(),
    /** Number of conversations that existed and have no new messages. */
    unchanged: z.int(),
    messages: z.int().describe('Number of new messages in all conversations.'),
    /** Conversations that were not imported, with the reason. At most 100. */
    skipped: z.array(z.object({ title: z.string(), reason: z.string() })).max(100),
    skipped_total: z.int(),
  }),
  status: 201,
  refusals: [400],
  maxBodyBytes: chatLimits.importBytes,
  raw: { request: 'application/json', headers: {} },
})

export const exportConversation = defineRoute({
  operation: 'conversationExport',
  method: 'GET',
  path: '/local/chat/conversations/:conversationId/export',
  summary: 'Download a conversation as JSON (all branches) or Markdown (selected branch)',
  description:
    'Lists attachments without their content. Markdown includes reasoning but no tool calls. Fails with 404 `chat/not-found`, also for a deleted conversation.',
  tag,
  auth,
  params: ConversationParams,
  query: z.object({ format: z.enum(['json', 'markdown']).default('json') }),
  response: z.unknown(),
  raw: {
    response: { mediaTypes: ['application/json', 'text/markdown'], description: 'The file.' },
    headers: {},
  },
})
