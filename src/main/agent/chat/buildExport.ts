import { type BytesResponse, createBytesAnswer } from '#platform/http/answers.ts'
import type { ActiveRuns } from './activeRuns.ts'
import { toHeaderName } from './attachments.ts'
import type { ChatStore } from './chatStore.ts'
import type { StoredConversation } from './conversationRepository.ts'
import type { Conversations } from './conversations.ts'
import type { MessageRow } from './messageRepository.ts'
import { toWireMessages } from './messagesToWire.ts'

type Dependencies = { store: ChatStore; running: ActiveRuns; conversations: Pick<Conversations, 'toWire'> }

/** Exports all branches as JSON, or the selected branch as Markdown. */
export function buildExport(dependencies: Dependencies, id: string, format: 'json' | 'markdown'): BytesResponse {
  const conversation = dependencies.store.conversation(id)
  const isJson = format === 'json'
  const name = `${toFileName(conversation.title)}.${isJson ? 'json' : 'md'}`
  return createBytesAnswer({
    headers: {
      'content-type': isJson ? 'application/json; charset=utf-8' : 'text/markdown; charset=utf-8',
      'content-disposition': `attachment; filename*=UTF-8''${toHeaderName(name)}`,
      'x-content-type-options': 'nosniff',
    },
    body: isJson ? toJsonText(dependencies, conversation) : toMarkdown(dependencies, conversation),
  })
}

function toJsonText({ store, running, conversations }: Dependencies, conversation: StoredConversation): string {
  const messages = toWireMessages({ store, running }, conversation, store.messages.all(conversation.number))
  return `${JSON.stringify({ version: 1, conversation: conversations.toWire(conversation), messages }, undefined, 2)}\n`
}

function* toMarkdown({ store }: Dependencies, conversation: StoredConversation): Generator<string> {
  yield `# ${conversation.title}\n\n`
  if (conversation.systemPrompt !== '') yield `> ${conversation.systemPrompt.replaceAll('\n', '\n> ')}\n\n`
  const leaf = conversation.leafId === null ? undefined : store.messages.find(conversation.leafId)
  if (!leaf) return
  for (const row of store.messages.page(leaf, leaf.position + 1, leaf.position)) yield* formatMessage(store, row)
}

function* formatMessage(store: ChatStore, row: MessageRow): Generator<string> {
  yield `## ${row.role === 'user' ? 'You' : (row.model ?? 'Assistant')}\n\n`
  for (const { name } of store.attachments.list([row.number]))
    yield `*Attached: ${name.replace(/[*_`[\]<>]/g, '\\$&')}*\n\n`
  if (row.reasoning !== '') {
    yield `<details><summary>Reasoning</summary>\n\n${row.reasoning}\n\n</details>\n\n`
  }
  yield `${row.text}\n\n`
}

function toFileName(title: string): string {
  return (
    title
      .replace(/[\\/:*?"<>|\p{Cc}\p{Cf}]/gu, ' ')
      .trim()
      .slice(0, 80) || 'chat'
  )
}
