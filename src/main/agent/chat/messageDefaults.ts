import { AppError } from '#shared/appError.ts'
import type { StoredAttachment } from './attachmentRepository.ts'
import type { ChatStore } from './chatStore.ts'
import type { CompletionPlan } from './completionPlan.ts'
import { estimateTokens } from './estimateTokens.ts'
import type { MessageWeight, NewMessage } from './messageRepository.ts'

/** @throws AppError `chat/attachment-not-found` */
export function requireAttachment(store: ChatStore, id: string): StoredAttachment {
  const attachment = store.attachments.find(id)
  if (attachment) return attachment
  throw new AppError('chat/attachment-not-found', `There is no attachment ${id}.`)
}

/** Measures the parts of a user message that are sent to the model. */
export function measureMessage(
  text: string,
  attachments: readonly StoredAttachment[],
): Pick<MessageWeight, 'bytes' | 'tokens' | 'images' | 'image_bytes'> {
  const texts = attachments.filter(({ kind }) => kind === 'text')
  const images = attachments.filter(({ kind }) => kind === 'image')
  const quoteBytes = texts.reduce((sum, { size, name }) => sum + size + 6 * name.length + 64, 0)
  return {
    bytes: Buffer.byteLength(text) + quoteBytes,
    tokens: Math.ceil(estimateTokens(text)) + attachments.reduce((sum, { tokens }) => sum + tokens, 0),
    images: images.length,
    image_bytes: images.reduce((sum, { size }) => sum + size, 0),
  }
}

type MessageDefaults = Omit<NewMessage, 'id' | 'conversation' | 'parent' | 'bytes' | 'tokens' | 'created_at_ms'>

/** Defaults of a user message. Assistant messages override some of them. */
export const messageDefaults: MessageDefaults = {
  role: 'user',
  state: 'complete',
  model: null,
  text: '',
  reasoning: '',
  group_id: null,
  request_id: null,
  source_id: null,
  error: null,
  usage: null,
  finish_reason: null,
  omitted: 0,
  clamped: null,
  warnings: '[]',
  finished_at_ms: null,
}

export function createPendingMessage({ model, context, maxTokens, requestedTokens, minCost }: CompletionPlan) {
  return {
    ...messageDefaults,
    role: 'assistant' as const,
    state: 'waiting' as const,
    model: model.id,
    bytes: 0,
    tokens: 0,
    omitted: context.omitted,
    clamped: maxTokens < requestedTokens ? maxTokens : null,
    // Usage to settle if the process crashes before the first chunk.
    usage: JSON.stringify({
      input_tokens: context.defaultTokens,
      cached_tokens: 0,
      output_tokens: 0,
      reasoning_tokens: 0,
      cost_micro_usd: minCost,
      saved_micro_usd: 0,
      estimated: true,
    }),
  }
}
