import { setImmediate } from 'node:timers/promises'
import { readBytes } from '#platform/boundedBytes.ts'
import { AppError } from '#shared/appError.ts'
import type { ImportFormat, importConversations } from '#shared/contract/chatLibrary.ts'
import { type ConversationId, chatLimits, noParameters } from '#shared/contract/chats.ts'
import { noTools } from '#shared/contract/chatTools.ts'
import type { Output } from '#shared/contract/route.ts'
import type { LocalEvents } from '../../base/localEvents.ts'
import type { Note } from '../../base/note.ts'
import type { ChatStore } from '../chatStore.ts'
import type { StoredConversation } from '../conversationRepository.ts'
import { cleanTitle } from '../conversationTitle.ts'
import { tokenWeight } from '../tokenWeight.ts'
import type { ImportedConversation } from './importedConversation.ts'
import { type MendedMessage, mendedTree } from './mendedTree.ts'
import { readExport } from './readExport.ts'

type Parts = {
  store: ChatStore
  publish: LocalEvents['publish']
  note: Note
  newId: () => string
  now: () => number
}
type Outcome = 'imported' | 'extended' | 'unchanged'

const mostSkipped = 100
/** Nothing that anybody said is longer. */
const mostCharacters = 4_000_000

/** @throws AppError `chat/import`, with nothing imported */
export async function imported(
  parts: Parts,
  pieces: AsyncIterable<Uint8Array>,
): Promise<Output<typeof importConversations>> {
  const { format, found, conversations } = readExport(await collected(pieces))
  const counts = { imported: 0, extended: 0, unchanged: 0 }
  const skipped: { title: string; reason: string }[] = []
  let [messages, skippedTotal] = [0, 0]
  for (const it of conversations) {
    const taken = 'reason' in it ? it.reason : takenConversation(parts, format, it.conversation)
    if (typeof taken === 'string') {
      skippedTotal += 1
      if (skipped.length < mostSkipped) skipped.push({ title: cleanTitle(it.title), reason: taken })
    } else {
      counts[taken.outcome] += 1
      messages += taken.added
    }
    await setImmediate() // others are answered in between
  }
  if (messages > 0) parts.publish({ type: 'chat.changed', conversation_id: null })
  parts.note({
    kind: 'chat.imported',
    actor: { kind: 'person', name: 'You' },
    summary: `You imported ${counts.imported + counts.extended} chats.`,
    detail: { format, ...counts, messages, skipped: skippedTotal },
  })
  return { format, found, ...counts, messages, skipped, skipped_total: skippedTotal }
}

/** All of it or nothing. @returns why not, in plain words */
function takenConversation(
  parts: Parts,
  format: ImportFormat,
  given: ImportedConversation,
): { outcome: Outcome; added: number } | string {
  const messages = mendedTree(given.nodes)
  if (messages.length === 0) return 'It has no messages.'
  if (messages.some(({ text }) => text.length > mostCharacters)) return 'One of its messages is too long.'
  return parts.store.atomically(() => {
    const known = parts.store.conversations.findSource(format, given.sourceId)
    const conversation = known ?? parts.store.conversations.add(conversationOf(parts, { format, given, messages }))
    const { added, places } = addedMessages(parts, conversation, messages)
    const wasDeleted = conversation.deletedAtMs !== null
    if (known && added === 0 && !wasDeleted) return { outcome: 'unchanged', added }
    const leaf = leafOf(given, messages, places)
    parts.store.conversations.save({
      ...conversation,
      deletedAtMs: null,
      messageCount: conversation.messageCount + added,
      ...(leaf !== undefined && added > 0 && { leafId: leaf }),
      ...(known && added > 0 && { updatedAtMs: Math.max(known.updatedAtMs, timesOf(given, messages, parts).updated) }),
    })
    return { outcome: known && !wasDeleted ? 'extended' : 'imported', added }
  })
}

type Given = { format: ImportFormat; given: ImportedConversation; messages: readonly MendedMessage[] }

function conversationOf(parts: Parts, { format, given, messages }: Given): Omit<StoredConversation, 'number'> {
  const { created, updated } = timesOf(given, messages, parts)
  return {
    id: `conv_${parts.newId()}` as ConversationId,
    title: cleanTitle(given.title) || cleanTitle(messages[0]?.text ?? '', 80) || 'Imported chat',
    titled: true,
    folderId: null,
    pinned: false,
    models: [],
    systemPrompt: given.systemPrompt.slice(0, chatLimits.systemPromptCharacters),
    parameters: noParameters,
    tools: noTools,
    limits: null,
    notice: null,
    leafId: null,
    messageCount: 0,
    forkedFrom: null,
    source: { format, id: given.sourceId },
    createdAtMs: created,
    updatedAtMs: updated,
    deletedAtMs: null,
  }
}

function addedMessages(
  { store, newId, now }: Parts,
  { number }: StoredConversation,
  messages: readonly MendedMessage[],
) {
  const places = store.messages.ofSource(number)
  const ids = new Map<string, string>()
  let added = 0
  for (const message of messages) {
    if (places.has(message.id)) continue
    const atMs = Math.min(message.atMs ?? now(), now())
    const row = store.messages.add({
      id: `msg_${newId()}`,
      conversation: number,
      parent: message.parentId === undefined ? undefined : places.get(message.parentId),
      role: message.role,
      state: 'complete',
      model: message.role === 'assistant' ? (message.model ?? null) : null,
      text: message.text,
      reasoning: message.reasoning,
      bytes: Buffer.byteLength(message.text),
      tokens: Math.ceil(tokenWeight(message.text)),
      group_id: null,
      request_id: null,
      source_id: message.id,
      error: null,
      usage: null,
      finish_reason: null,
      omitted: 0,
      clamped: null,
      warnings: '[]',
      created_at_ms: atMs,
      finished_at_ms: atMs,
    })
    places.set(message.id, row)
    ids.set(message.id, row.id)
    added += 1
  }
  return { added, places: ids }
}

/** The end that was shown there, or the newest of what is new. */
function leafOf(
  { leafId, nodes }: ImportedConversation,
  messages: readonly MendedMessage[],
  added: ReadonlyMap<string, string>,
): string | undefined {
  const parents = new Map(nodes.map(({ id, parentId }) => [id, parentId]))
  const seen = new Set<string>()
  let at = leafId
  while (at !== undefined && !added.has(at) && !seen.has(at)) {
    seen.add(at)
    at = parents.get(at)
  }
  const newest = messages.findLast(({ id }) => added.has(id))
  return added.get(at ?? newest?.id ?? '')
}

function timesOf(
  { createdAtMs, updatedAtMs }: ImportedConversation,
  messages: readonly MendedMessage[],
  { now }: Parts,
) {
  const times = messages.flatMap(({ atMs }) => atMs ?? [])
  const created = createdAtMs ?? times.reduce((least, it) => Math.min(least, it), now())
  const updated = updatedAtMs ?? times.reduce((most, it) => Math.max(most, it), created)
  return { created: Math.min(created, now()), updated: Math.min(Math.max(updated, created), now()) }
}

async function collected(pieces: AsyncIterable<Uint8Array>): Promise<Buffer> {
  try {
    return await readBytes(pieces, { maxBytes: chatLimits.importBytes })
  } catch (failure) {
    if (failure instanceof AppError && failure.code === 'request/too-large') throw tooLarge(failure)
    throw failure
  }
}

function tooLarge(cause: AppError): AppError {
  const most = chatLimits.importBytes / 1024 ** 2
  return new AppError('request/too-large', `The file is larger than ${most} MB.`, { cause })
}
