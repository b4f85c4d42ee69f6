import { setImmediate } from 'node:timers/promises'
import { readBytes } from '#platform/parsing/boundedBytes.ts'
import { AppError } from '#shared/appError.ts'
import type { ImportFormat, importConversations } from '#shared/contract/chatLibrary.ts'
import { type ConversationId, chatLimits, noParameters } from '#shared/contract/chats.ts'
import { noTools } from '#shared/contract/chatTools.ts'
import type { Output } from '#shared/contract/route.ts'
import type { LocalEvents } from '../../base/localEvents.ts'
import type { RecordActivity } from '../../base/recordActivity.ts'
import type { ChatStore } from '../chatStore.ts'
import type { StoredConversation } from '../conversationRepository.ts'
import { cleanTitle } from '../conversationTitle.ts'
import { estimateTokens } from '../estimateTokens.ts'
import { buildMessageTree, type TreeMessage } from './buildMessageTree.ts'
import type { ImportedConversation } from './importedConversation.ts'
import { parseExport } from './readExport.ts'

type Dependencies = {
  store: ChatStore
  publish: LocalEvents['publish']
  recordActivity: RecordActivity
  newId: () => string
  now: () => number
  /** Serializes imports, because two concurrent imports of one file would add each message twice. */
  runExclusive: <T>(work: () => Promise<T>) => Promise<T>
}
type Outcome = 'imported' | 'extended' | 'unchanged'

const maxSkipped = 100
/** Messages stored without yielding, which takes about 30 ms. */
const batchSize = 500
/** Maximum length of a message, longer than any typed one. */
const maxCharacters = 4_000_000

/** @throws AppError `chat/import`. Nothing is imported then */
export async function importChats(
  dependencies: Dependencies,
  pieces: AsyncIterable<Uint8Array>,
): Promise<Output<typeof importConversations>> {
  const parsed = parseExport(await collectBytes(pieces))
  return dependencies.runExclusive(() => importParsed(dependencies, parsed))
}

async function importParsed(
  dependencies: Dependencies,
  { format, total, conversations }: ReturnType<typeof parseExport>,
): Promise<Output<typeof importConversations>> {
  const counts = { imported: 0, extended: 0, unchanged: 0 }
  const skipped: { title: string; reason: string }[] = []
  let [messages, skippedTotal] = [0, 0]
  for (const entry of conversations) {
    const result = 'reason' in entry ? entry.reason : await importConversation(dependencies, format, entry.conversation)
    if (typeof result === 'string') {
      skippedTotal += 1
      if (skipped.length < maxSkipped) skipped.push({ title: cleanTitle(entry.title), reason: result })
    } else {
      counts[result.outcome] += 1
      messages += result.added
    }
    await setImmediate()
  }
  if (messages > 0) dependencies.publish({ type: 'chat.changed', conversation_id: null })
  dependencies.recordActivity({
    kind: 'chat.imported',
    actor: { kind: 'person', name: 'You' },
    summary: `You imported ${counts.imported + counts.extended} chats.`,
    detail: { format, ...counts, messages, skipped: skippedTotal },
  })
  return { format, found: total, ...counts, messages, skipped, skipped_total: skippedTotal }
}

/**
 * Imports a conversation in batches, each in a transaction, so that a later import can continue after a crash.
 * @returns the reason if it could not be imported
 */
async function importConversation(
  dependencies: Dependencies,
  format: ImportFormat,
  imported: ImportedConversation,
): Promise<{ outcome: Outcome; added: number } | string> {
  const { store } = dependencies
  const messages = buildMessageTree(imported.nodes)
  if (messages.length === 0) return 'The conversation has no messages.'
  if (messages.some(({ text }) => text.length > maxCharacters)) return 'A message of the conversation is too long.'
  const existing = store.conversations.findSource(format, imported.sourceId)
  const { id, number } =
    existing ?? store.conversations.add(toConversation(dependencies, { format, imported, messages }))
  const positions = store.messages.ofSource(number)
  const missing = messages.filter((message) => !positions.has(message.id))
  const wasDeleted = existing !== undefined && existing.deletedAtMs !== null
  if (existing && missing.length === 0 && !wasDeleted) return { outcome: 'unchanged', added: 0 }
  const ids = new Map<string, string>()
  let importedLeaf = existing?.leafId ?? null
  for (let start = 0; start < missing.length; start += batchSize) {
    const batch = missing.slice(start, start + batchSize)
    const isPresent = store.atomically(() => {
      const current = store.conversations.find(id)
      if (!current) return false
      const leaf = addMessages(dependencies, { conversation: current, messages: batch, positions, ids })
      store.conversations.save({
        ...current,
        messageCount: current.messageCount + batch.length,
        ...(start === 0 && { deletedAtMs: null }),
        ...(!existing && current.leafId === importedLeaf && { leafId: leaf }),
      })
      if (!existing) importedLeaf = leaf
      return true
    })
    if (!isPresent) return 'The conversation was deleted.'
    await setImmediate() // handles other requests in between
  }
  const leaf = findLeaf(imported, messages, ids)
  const { updated } = readTimes(imported, messages, dependencies)
  store.atomically(() => {
    const current = store.conversations.find(id)
    if (!current) return
    store.conversations.save({
      ...current,
      ...(missing.length === 0 && { deletedAtMs: null }),
      ...(leaf !== undefined && current.leafId === importedLeaf && { leafId: leaf }),
      ...(existing && missing.length > 0 && { updatedAtMs: Math.max(existing.updatedAtMs, updated) }),
    })
  })
  return { outcome: existing && !wasDeleted ? 'extended' : 'imported', added: missing.length }
}

type ImportInput = { format: ImportFormat; imported: ImportedConversation; messages: readonly TreeMessage[] }

function toConversation(
  dependencies: Dependencies,
  { format, imported, messages }: ImportInput,
): Omit<StoredConversation, 'number'> {
  const { created, updated } = readTimes(imported, messages, dependencies)
  return {
    id: `conv_${dependencies.newId()}` as ConversationId,
    title: cleanTitle(imported.title) || cleanTitle(messages[0]?.text ?? '', 80) || 'Imported chat',
    titled: true,
    folderId: null,
    pinned: false,
    models: [],
    systemPrompt: imported.systemPrompt.slice(0, chatLimits.systemPromptCharacters),
    parameters: noParameters,
    tools: noTools,
    limits: null,
    notice: null,
    leafId: null,
    messageCount: 0,
    forkedFrom: null,
    source: { format, id: imported.sourceId },
    createdAtMs: created,
    updatedAtMs: updated,
    deletedAtMs: null,
  }
}

type Batch = {
  conversation: StoredConversation
  messages: readonly TreeMessage[]
  /** Rows by source id, including those added by this import. */
  positions: ReturnType<ChatStore['messages']['ofSource']>
  /** Ids of added messages by source id. */
  ids: Map<string, string>
}

/** @returns the id of the last message */
function addMessages(
  { store, newId, now }: Dependencies,
  { conversation: { number }, messages, positions, ids }: Batch,
): string | null {
  let last: string | null = null
  for (const message of messages) {
    const atMs = Math.min(message.atMs ?? now(), now())
    const row = store.messages.add({
      id: `msg_${newId()}`,
      conversation: number,
      parent: message.parentId === undefined ? undefined : positions.get(message.parentId),
      role: message.role,
      state: 'complete',
      model: message.role === 'assistant' ? (message.model ?? null) : null,
      text: message.text,
      reasoning: message.reasoning,
      bytes: Buffer.byteLength(message.text),
      tokens: Math.ceil(estimateTokens(message.text)),
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
    positions.set(message.id, row)
    ids.set(message.id, row.id)
    last = row.id
  }
  return last
}

/** Returns the last message of the branch shown in the source program, or the newest imported message. */
function findLeaf(
  { leafId, nodes }: ImportedConversation,
  messages: readonly TreeMessage[],
  added: ReadonlyMap<string, string>,
): string | undefined {
  const parents = new Map(nodes.map(({ id, parentId }) => [id, parentId]))
  const visited = new Set<string>()
  let at = leafId
  while (at !== undefined && !added.has(at) && !visited.has(at)) {
    visited.add(at)
    at = parents.get(at)
  }
  const newest = messages.findLast(({ id }) => added.has(id))
  return added.get(at ?? newest?.id ?? '')
}

function readTimes(
  { createdAtMs, updatedAtMs }: ImportedConversation,
  messages: readonly TreeMessage[],
  { now }: Dependencies,
) {
  const times = messages.flatMap(({ atMs }) => atMs ?? [])
  const created = createdAtMs ?? times.reduce((min, it) => Math.min(min, it), now())
  const updated = updatedAtMs ?? times.reduce((max, it) => Math.max(max, it), created)
  return { created: Math.min(created, now()), updated: Math.min(Math.max(updated, created), now()) }
}

async function collectBytes(pieces: AsyncIterable<Uint8Array>): Promise<Buffer> {
  try {
    return await readBytes(pieces, { maxBytes: chatLimits.importBytes })
  } catch (error) {
    if (error instanceof AppError && error.code === 'request/too-large') throw createTooLargeError(error)
    throw error
  }
}

function createTooLargeError(cause: AppError): AppError {
  const maxMib = chatLimits.importBytes / 1024 ** 2
  return new AppError('request/too-large', `The file is larger than ${maxMib} MB.`, { cause })
}
