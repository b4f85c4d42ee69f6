import type { createChatCompletion, ListedModel } from '../../../shared/contract/inference.ts'
import type { Input } from '../../../shared/contract/route.ts'
import type { ChatStore } from './chatStore.ts'
import type { StoredConversation } from './conversationRepository.ts'
import type { StoredAttachment } from './libraryRepository.ts'
import type { MessageRow } from './messageRepository.ts'
import { asksForCache } from './modelPrices.ts'

type Given = {
  conversation: StoredConversation
  model: ListedModel
  /** Numbers of messages, oldest first. */
  messages: readonly number[]
  maxTokens: number
}
type Turn = { role: string; content: string | Part[] }
type Part = { type: 'text'; text: string } | { type: 'image_url'; image_url: { url: string } }

/** What is asked of the service, as OpenAI's chat completions have it. */
export function completionRequest(store: ChatStore, given: Given): Input<typeof createChatCompletion> {
  const { conversation, model, maxTokens } = given
  const { temperature, top_p, reasoning_effort, stop, seed } = conversation.parameters
  const system = conversation.systemPrompt.trim()
  const rows = store.messages.numbered(given.messages)
  const attached = store.library.attachmentsOf(given.messages)
  const request = {
    model: model.id,
    stream: true,
    stream_options: { include_usage: true },
    max_completion_tokens: maxTokens,
    ...(temperature !== null && { temperature }),
    ...(top_p !== null && { top_p }),
    ...(reasoning_effort !== null && { reasoning_effort }),
    ...(stop !== null && stop.length > 0 && { stop }),
    ...(seed !== null && { seed }),
    // Keeps what both sides share of a conversation's requests where a provider looks for it.
    prompt_cache_key: conversation.id,
    ...(asksForCache(model) && { cache_control: { type: 'ephemeral' } }),
    messages: [
      ...(system === '' ? [] : [{ role: 'system', content: system }]),
      ...rows.flatMap((row) =>
        messageOf(
          store,
          row,
          attached.filter(({ message }) => message === row.number),
        ),
      ),
    ],
  }
  return request
}

/** An answer of which nothing came says nothing. */
function messageOf(store: ChatStore, row: MessageRow, attached: readonly StoredAttachment[]): Turn[] {
  if (row.role === 'assistant') return row.text.trim() === '' ? [] : [{ role: 'assistant', content: row.text }]
  const text = [...attached.filter(({ kind }) => kind === 'text').map((it) => quoted(store, it)), row.text]
    .filter((it) => it !== '')
    .join('\n\n')
  const images = attached.filter(({ kind }) => kind === 'image')
  if (images.length === 0) return [{ role: 'user', content: text }]
  const parts: Part[] = [
    ...images.map((it) => ({ type: 'image_url' as const, image_url: { url: dataUrl(store, it) } })),
    ...(text === '' ? [] : [{ type: 'text' as const, text }]),
  ]
  return [{ role: 'user', content: parts }]
}

function quoted(store: ChatStore, { hash, name }: StoredAttachment): string {
  const text = store.library.bytes(hash)?.toString('utf8') ?? ''
  return `<attachment name=${JSON.stringify(name)}>\n${text}\n</attachment>`
}

function dataUrl(store: ChatStore, { hash, media_type }: StoredAttachment): string {
  return `data:${media_type};base64,${store.library.bytes(hash)?.toString('base64') ?? ''}`
}
