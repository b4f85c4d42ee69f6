import { parseJson } from '#platform/parsing/boundedJson.ts'
import { AppError } from '#shared/appError.ts'
import {
  type ChatHit,
  type ChatParameters,
  type Conversation,
  type ConversationId,
  type ConversationSummary,
  chatLimits,
  type FolderId,
  type MessageId,
  noParameters,
  type SpendLimits,
} from '#shared/contract/chats.ts'
import { type ChatTools, noTools } from '#shared/contract/chatTools.ts'
import { toIsoTime } from '#shared/time.ts'
import { person } from '../base/actors.ts'
import type { AgentPrincipals } from '../base/agentPrincipals.ts'
import type { LocalEvents } from '../base/localEvents.ts'
import type { RecordActivity } from '../base/recordActivity.ts'
import type { SpendBudgets } from '../budgets/spendBudgets.ts'
import type { ActiveRuns } from './activeRuns.ts'
import type { ChatStore } from './chatStore.ts'
import type { ListCursor, ListFilter, StoredConversation } from './conversationRepository.ts'
import { cleanTitle, newChat, toChatName } from './conversationTitle.ts'
import { searchQuery, splitSnippet } from './searchQuery.ts'

export type ConversationsDependencies = {
  store: ChatStore
  budgets: Pick<SpendBudgets, 'sumSpend' | 'states'>
  running: ActiveRuns
  principals: Pick<AgentPrincipals, 'end'>
  /** @throws AppError `request/invalid` */
  checkLimits: (limits: SpendLimits, field: string) => void
  publish: LocalEvents['publish']
  /** Called when the user renamed a conversation, with its new name as a requester. */
  onRenamed: (id: string, name: string) => void
  recordActivity: RecordActivity
  newId: () => string
  now: () => number
}

/** Settings that the user changes. Undefined leaves a field unchanged. */
type Settings = {
  title?: string | undefined
  folder_id?: string | null | undefined
  pinned?: boolean | undefined
  models?: string[] | undefined
  system_prompt?: string | undefined
  parameters?: { [K in keyof ChatParameters]?: ChatParameters[K] | undefined } | undefined
  tools?: { [K in keyof ChatTools]?: ChatTools[K] | undefined } | undefined
  limits?: SpendLimits | null | undefined
  notice?: null | undefined
}

export type Conversations = {
  list(query: ListFilter & { cursor: string | undefined; limit: number }): {
    conversations: ConversationSummary[]
    next_cursor: string | null
    total: number
  }
  create(settings: Settings): Conversation
  get(id: string): Conversation
  toWire(conversation: StoredConversation): Conversation
  summary(conversation: StoredConversation): ConversationSummary
  change(id: string, settings: Settings & { leaf_id?: string | undefined }): Conversation
  delete(id: string): { success: true; id: ConversationId; restorable_until: string }
  restore(id: string): Conversation
  fork(id: string, messageId: string): Conversation
  search(query: SearchRequest): { hits: ChatHit[]; has_more: boolean }
}

type SearchRequest = { q: string; conversation_id?: string | undefined; offset: number; limit: number }

export function createConversations(dependencies: ConversationsDependencies): Conversations {
  const { store, principals, publish, recordActivity, now } = dependencies
  const publishChange = (id: string): void => publish({ type: 'chat.changed', conversation_id: id })
  const summary = (conversation: StoredConversation) => toSummary(dependencies, conversation)
  const toWire = (conversation: StoredConversation) => toWireConversation(dependencies, conversation)

  return {
    summary,
    toWire,
    list({ cursor, limit, ...filter }) {
      const rows = store.conversations.list(filter, cursor === undefined ? undefined : parseCursor(cursor), limit + 1)
      const page = rows.slice(0, limit)
      const last = rows.length > limit ? page.at(-1) : undefined
      return {
        conversations: page.map(summary),
        next_cursor: last ? toCursor(last) : null,
        total: store.conversations.count(filter),
      }
    },
    create(settings) {
      const created = store.conversations.add(
        applySettings(dependencies, { ...createBlank(dependencies), number: 0 }, settings),
      )
      publishChange(created.id)
      return toWire(created)
    },
    get: (id) => toWire(store.conversation(id)),
    change(id, { leaf_id, ...settings }) {
      const after = store.atomically(() => {
        const set = applySettings(dependencies, store.conversation(id), settings)
        const leaf = leaf_id === undefined ? undefined : store.message(leaf_id).message
        if (leaf && leaf.conversation !== set.number) {
          throw new AppError('chat/message-not-found', `There is no message ${leaf_id} in this conversation.`)
        }
        const next = leaf ? { ...set, leafId: store.messages.newestLeaf(leaf).id } : set
        store.conversations.save(next)
        return next
      })
      if (settings.title !== undefined) dependencies.onRenamed(id, toChatName(after.title))
      publishChange(id)
      return toWire(after)
    },
    delete(id) {
      const { id: sourceId, ...conversation } = store.conversation(id)
      store.conversations.save({ ...conversation, id: sourceId, deletedAtMs: now() })
      recordActivity({ kind: 'chat.deleted', actor: person, subject: id, summary: 'You deleted a chat.' })
      principals.end(`chat:${id}`)
      publishChange(id)
      return { success: true, id: sourceId, restorable_until: toIsoTime(now() + chatLimits.restorableMs) }
    },
    restore(id) {
      const conversation = store.conversations.find(id)
      if (!conversation) throw new AppError('chat/not-found', `There is no conversation ${id}.`)
      const restored = { ...conversation, deletedAtMs: null }
      store.conversations.save(restored)
      if (conversation.deletedAtMs !== null) {
        recordActivity({ kind: 'chat.restored', actor: person, subject: id, summary: 'You restored a chat.' })
        publishChange(id)
      }
      return toWire(restored)
    },
    fork(id, messageId) {
      const forked = forkConversation(dependencies, id, messageId)
      publishChange(forked.id)
      return toWire(forked)
    },
    search: (query) => searchChats(dependencies, query),
  }
}

function toSummary({ budgets, running }: ConversationsDependencies, it: StoredConversation): ConversationSummary {
  const { cost_micro_usd, estimated: cost_estimated } = budgets.sumSpend(it.id)
  return {
    id: it.id,
    title: it.title,
    folder_id: it.folderId as FolderId | null, // written only by `applySettings`
    pinned: it.pinned,
    models: it.models,
    message_count: it.messageCount,
    cost_micro_usd,
    cost_estimated,
    answering: running.count(it.id),
    created_at: toIsoTime(it.createdAtMs),
    updated_at: toIsoTime(it.updatedAtMs),
  }
}

function toWireConversation(dependencies: ConversationsDependencies, it: StoredConversation): Conversation {
  const { budgets } = dependencies
  return {
    ...toSummary(dependencies, it),
    system_prompt: it.systemPrompt,
    parameters: it.parameters,
    tools: it.tools,
    leaf_id: it.leafId as MessageId | null,
    limits: it.limits,
    notice: it.notice,
    budget: budgets.states({ conversationId: it.id, ownLimits: it.limits }),
    spend: budgets.sumSpend(it.id),
    forked_from: it.forkedFrom as Conversation['forked_from'],
    source: (it.source?.format ?? null) as Conversation['source'],
  }
}

/** @throws AppError `chat/folder-not-found`, `request/invalid` */
function applySettings(
  { store, checkLimits }: Pick<ConversationsDependencies, 'store' | 'checkLimits'>,
  it: StoredConversation,
  settings: Settings,
): StoredConversation {
  const { title, folder_id, pinned, models, system_prompt, parameters, tools, limits, notice } = settings
  if (typeof folder_id === 'string' && !store.folders.list().some(({ id }) => id === folder_id)) {
    throw new AppError('chat/folder-not-found', `There is no folder ${folder_id}.`)
  }
  if (limits) checkLimits(limits, 'limits')
  const setParameters = Object.entries(parameters ?? {}).filter(([, value]) => value !== undefined)
  const setTools = Object.entries(tools ?? {}).filter(([, value]) => value !== undefined)
  return {
    ...it,
    ...(title !== undefined && { title, titled: true }),
    ...(folder_id !== undefined && { folderId: folder_id }),
    ...(pinned !== undefined && { pinned }),
    ...(models !== undefined && { models }),
    ...(system_prompt !== undefined && { systemPrompt: system_prompt }),
    ...(limits !== undefined && { limits }),
    ...((notice === null || typeof tools?.sandbox_id === 'string') && { notice: null }),
    parameters: { ...it.parameters, ...Object.fromEntries(setParameters) },
    tools: { ...it.tools, ...Object.fromEntries(setTools) },
  }
}

function createBlank({ newId, now }: ConversationsDependencies): Omit<StoredConversation, 'number'> {
  return {
    id: `conv_${newId()}` as ConversationId,
    title: newChat,
    titled: false,
    folderId: null,
    pinned: false,
    models: [],
    systemPrompt: '',
    parameters: noParameters,
    tools: noTools,
    limits: null,
    notice: null,
    leafId: null,
    messageCount: 0,
    forkedFrom: null,
    source: null,
    createdAtMs: now(),
    updatedAtMs: now(),
    deletedAtMs: null,
  }
}

/**
 * Copies a conversation up to a message.
 * @throws AppError `chat/message-not-found`, or `chat/message` while the message is being generated
 */
function forkConversation(dependencies: ConversationsDependencies, id: string, messageId: string): StoredConversation {
  const { store, running } = dependencies
  return store.atomically(() => {
    const from = store.conversation(id)
    const { message } = store.message(messageId)
    if (message.conversation !== from.number) {
      throw new AppError('chat/message-not-found', `There is no message ${messageId} in this conversation.`)
    }
    if (running.get(messageId)) {
      throw new AppError('chat/message', 'The answer is still being generated. Wait for it, or stop it.')
    }
    const created = store.conversations.add({
      ...createBlank(dependencies),
      title: cleanTitle(`${from.title} (fork)`),
      titled: true,
      folderId: from.folderId,
      models: from.models,
      systemPrompt: from.systemPrompt,
      parameters: from.parameters,
      tools: from.tools,
      limits: from.limits,
      forkedFrom: { conversation_id: id, message_id: messageId },
    })
    const next = { ...created, ...copyAttachment(dependencies, message.id, created.number) }
    store.conversations.save(next)
    return next
  })
}

function searchChats(
  { store }: ConversationsDependencies,
  { q, conversation_id: conversationId, offset, limit }: SearchRequest,
): ReturnType<Conversations['search']> {
  const query = searchQuery(q)
  if (query === undefined) return { hits: [], has_more: false }
  const rows = store.search.search({ query, conversationId, offset, limit: limit + 1 })
  return {
    hits: rows.slice(0, limit).map((row) => ({
      conversation_id: row.conversation_id as ConversationId,
      title: row.title,
      message_id: row.message_id as MessageId | null,
      role: row.role,
      snippet: splitSnippet(row.snippet),
      at: toIsoTime(row.at_ms),
    })),
    has_more: rows.length > limit,
  }
}

/** Copies the branch up to a message into another conversation. Its cost remains with the original conversation. */
function copyAttachment({ store, newId, now }: ConversationsDependencies, messageId: string, conversation: number) {
  const { message: end } = store.message(messageId)
  const rows = store.messages.page(end, end.position + 1, end.position)
  const attached = Map.groupBy(store.attachments.list(rows.map(({ number }) => number)), ({ message }) => message)
  let leaf: ReturnType<typeof store.messages.add> | undefined
  for (const row of rows) {
    const { number, branch: _, position: __, parent: ___, ...content } = row
    leaf = store.messages.add({
      ...content,
      finished_at_ms: content.finished_at_ms ?? now(),
      id: `msg_${newId()}`,
      conversation,
      parent: leaf,
      group_id: null,
      request_id: null,
      source_id: null,
    })
    store.calls.copy(number, leaf.number, () => `call_${newId()}`)
    store.attachments.attach(
      leaf.number,
      (attached.get(number) ?? []).map(({ id }) => id),
    )
  }
  return { leafId: leaf?.id ?? null, messageCount: rows.length }
}

function toCursor({ pinned, updatedAtMs, number }: ListCursor): string {
  return Buffer.from(JSON.stringify([pinned ? 1 : 0, updatedAtMs, number])).toString('base64url')
}

/** @throws AppError `request/invalid` */
function parseCursor(cursor: string): ListCursor {
  const [pinned, updatedAtMs, number] = parseNumbers(cursor)
  if (pinned === undefined || updatedAtMs === undefined || number === undefined) {
    throw new AppError('request/invalid', '`cursor` must be the `next_cursor` of a previous page.')
  }
  return { pinned: pinned === 1, updatedAtMs, number }
}

function parseNumbers(cursor: string): number[] {
  try {
    const value: unknown = parseJson(Buffer.from(cursor, 'base64url').toString())
    return Array.isArray(value) && value.every((it) => Number.isSafeInteger(it)) ? value : []
  } catch {
    return [] // invalid cursor
  }
}
