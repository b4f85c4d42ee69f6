import { AppError } from '#shared/appError.ts'
import type { Message, SentMessages } from '#shared/contract/chatMessages.ts'
import type { LimitState } from '#shared/contract/chats.ts'
import type { ListedModel } from '#shared/contract/inference.ts'
import type { LocalEvents } from '../base/localEvents.ts'
import type { SpendBudgets, SpendRequest } from '../budgets/spendBudgets.ts'
import type { ActiveRuns } from './activeRuns.ts'
import type { ChatStore } from './chatStore.ts'
import { planCompletion } from './completionPlan.ts'
import type { StoredConversation } from './conversationRepository.ts'
import { createTitle } from './conversationTitle.ts'
import { createPendingMessage, measureMessage, messageDefaults, requireAttachment } from './messageDefaults.ts'
import type { MessageRow, MessageWeight } from './messageRepository.ts'
import { toWireMessages } from './messagesToWire.ts'
import type { ModelList } from './modelList.ts'
import { buildPromptContext } from './promptContext.ts'
import { getRunLimit } from './runBudget.ts'
import type { RunJob } from './runExecutor.ts'

export type SendingDependencies = {
  store: ChatStore
  budgets: Pick<SpendBudgets, 'reserve'>
  models: ModelList
  running: ActiveRuns
  begin: (job: RunJob) => void
  /** Whether the user stopped everything. */
  isStopped: () => boolean
  publish: LocalEvents['publish']
  /** Returns random hexadecimal digits. */
  newId: () => string
  now: () => number
}

export type Sending = {
  /** @throws AppError `chat/…`, `budget/exceeded`, `service/unavailable`. Nothing is stored or sent then */
  send(conversationId: string, message: SentMessage): Promise<SentMessages>
  regenerate(messageId: string, request: SendOptions): Promise<SentMessages>
  stop(messageId: string): Message
}

type SentMessage = {
  parent_id: string | null
  text: string
  attachment_ids: readonly string[]
  models?: readonly string[] | undefined
  request_id?: string | undefined
}
type SendOptions = {
  models?: readonly string[] | undefined
  model?: string | undefined
  request_id?: string | undefined
}

/** Maximum number of concurrent runs. */
const maxRunning = 32

export function createSending(dependencies: SendingDependencies): Sending {
  const { store, running } = dependencies
  return {
    send: (conversationId, message) => sendMessage(dependencies, conversationId, message),
    regenerate: (messageId, request) => regenerateMessage(dependencies, messageId, request),
    stop(messageId) {
      const { message, conversation } = store.message(messageId)
      running.get(messageId)?.stop()
      const [stopped] = toWireMessages({ store, running }, conversation, [message])
      if (!stopped) throw new Error('A message was not published.')
      return stopped
    },
  }
}

async function sendMessage(
  dependencies: SendingDependencies,
  conversationId: string,
  { parent_id, text, attachment_ids, ...options }: SentMessage,
): Promise<SentMessages> {
  const { store, now } = dependencies
  const before = findByRequestId(dependencies, store.conversation(conversationId), options.request_id)
  if (before) return before
  if (text.trim() === '' && attachment_ids.length === 0) {
    throw new AppError('request/invalid', '`text` must not be empty without attachments.')
  }
  const names = options.models ?? store.conversation(conversationId).models
  const models = await dependencies.models.requireModels(chooseModels(names))
  const result = store.atomically(() => {
    const conversation = store.conversation(conversationId)
    const again = findByRequestId(dependencies, conversation, options.request_id)
    if (again) return { again }
    const parent = parent_id === null ? undefined : requireParent(dependencies, conversation, parent_id)
    const attachments = attachment_ids.map((id) => requireAttachment(store, id))
    const weight = measureMessage(text, attachments)
    const { user, jobs, warnings } = createAssistantMessages(dependencies, {
      conversation,
      models,
      weights: [...(parent ? store.messages.weights(parent) : []), { ...weight, number: 0, position: 0, role: 'user' }],
      requestId: options.request_id,
      getUserMessage() {
        const row = store.messages.add({
          ...messageDefaults,
          id: `msg_${dependencies.newId()}`,
          conversation: conversation.number,
          parent,
          text,
          bytes: weight.bytes,
          tokens: weight.tokens,
          request_id: options.request_id ?? null,
          created_at_ms: now(),
          finished_at_ms: now(),
        })
        store.attachments.attach(row.number, attachment_ids)
        return row
      },
    })
    const changed: StoredConversation = {
      ...conversation,
      models: models.map(({ id }) => id),
      leafId: jobs[0]?.row.id ?? user.id,
      messageCount: conversation.messageCount + 1 + jobs.length,
      updatedAtMs: now(),
      ...(!conversation.titled &&
        conversation.messageCount === 0 && { title: createTitle(text, attachments[0]?.name) }),
    }
    store.conversations.save(changed)
    return { conversation: changed, user, jobs, warnings }
  })
  if ('again' in result) return result.again
  beginRuns(dependencies, result.conversation, result.jobs)
  const rows = [result.user, ...result.jobs.map(({ row }) => row)]
  return toSentMessages(dependencies, { ...result, rows })
}

async function regenerateMessage(
  dependencies: SendingDependencies,
  messageId: string,
  request: SendOptions,
): Promise<SentMessages> {
  const { store, now } = dependencies
  const { message, conversation: current } = store.message(messageId)
  const before = findByRequestId(dependencies, current, request.request_id)
  if (before) return before
  const own = message.role === 'assistant' && message.model !== null ? [message.model] : current.models
  const models = await dependencies.models.requireModels(
    chooseModels(request.models ?? (request.model ? [request.model] : own)),
  )
  const result = store.atomically(() => {
    const { message: target, conversation } = store.message(messageId)
    const again = findByRequestId(dependencies, conversation, request.request_id)
    if (again) return { again }
    const user = target.role === 'user' ? target : store.messages.findByNumbers([target.parent])[0]
    if (user?.role !== 'user') {
      throw new AppError(
        'chat/message',
        'This assistant message has no user message before it and cannot be regenerated.',
      )
    }
    const result = createAssistantMessages(dependencies, {
      conversation,
      models,
      weights: store.messages.weights(user),
      getUserMessage: () => user,
      requestId: request.request_id,
    })
    const changed: StoredConversation = {
      ...conversation,
      leafId: result.jobs[0]?.row.id ?? conversation.leafId,
      messageCount: conversation.messageCount + result.jobs.length,
      updatedAtMs: now(),
    }
    store.conversations.save(changed)
    return { conversation: changed, ...result }
  })
  if ('again' in result) return result.again
  beginRuns(dependencies, result.conversation, result.jobs)
  return toSentMessages(dependencies, { ...result, rows: result.jobs.map(({ row }) => row) })
}

type AssistantMessagesInput = {
  conversation: StoredConversation
  models: readonly ListedModel[]
  weights: readonly MessageWeight[]
  /** Adds or finds the user message. */
  getUserMessage: () => MessageRow
  requestId: string | undefined
}

/** Creates the assistant messages within the transaction of the reservations. */
function createAssistantMessages(
  dependencies: SendingDependencies,
  { conversation, models, weights, getUserMessage, requestId }: AssistantMessagesInput,
) {
  const { store, budgets, running, now } = dependencies
  if (dependencies.isStopped()) throw new AppError('intent/stopped', 'Everything is stopped.')
  if (running.count() + models.length > maxRunning) {
    throw new AppError('chat/too-many', `${maxRunning} answers are already being generated.`, { retryAfterSeconds: 5 })
  }
  const { tools, parameters } = conversation
  if (tools.enabled && models.length > 1) {
    throw new AppError('chat/model', 'With tools on, only one model can answer at a time.')
  }
  const systemPrompt = buildPromptContext(store, conversation).measuredText
  const runLimit = getRunLimit(conversation)
  const planned = models.map((model) => ({
    id: `msg_${dependencies.newId()}`,
    plan: planCompletion(model, { weights, systemPrompt, parameters }),
    reserved: 0,
  }))
  const warnings = budgets.reserve(
    { conversationId: conversation.id, ownLimits: conversation.limits },
    planned.map(
      (item): SpendRequest => ({
        id: item.id,
        model: item.plan.model.id,
        plan(available) {
          const amount = item.plan.plan(Math.min(available, runLimit))
          item.reserved = amount ?? 0
          return amount
        },
      }),
    ),
  )
  const user = getUserMessage()
  const groupId = planned.length > 1 ? `grp_${dependencies.newId()}` : null
  const jobs = planned.map(({ id, plan, reserved }) => {
    // The new message had no number when it was planned.
    plan.context.messages = plan.context.messages.map((number) => (number === 0 ? user.number : number))
    const row = store.messages.add({
      ...createPendingMessage(plan),
      id,
      conversation: conversation.number,
      parent: user,
      group_id: groupId,
      request_id: requestId ?? null,
      created_at_ms: now(),
    })
    return { row, conversation, plan, reservedMicroUsd: reserved }
  })
  return { user, jobs, warnings }
}

function beginRuns(dependencies: SendingDependencies, conversation: StoredConversation, jobs: readonly RunJob[]): void {
  for (const job of jobs) dependencies.begin({ ...job, conversation })
  dependencies.publish({ type: 'chat.changed', conversation_id: conversation.id })
}

function findByRequestId(
  dependencies: SendingDependencies,
  conversation: StoredConversation,
  requestId: string | undefined,
): SentMessages | undefined {
  const rows = requestId === undefined ? [] : dependencies.store.messages.ofRequest(conversation.number, requestId)
  return rows.length === 0 ? undefined : toSentMessages(dependencies, { conversation, rows, warnings: [] })
}

function toSentMessages(
  { store, running }: SendingDependencies,
  sent: { conversation: StoredConversation; rows: readonly MessageRow[]; warnings: LimitState[] },
): SentMessages {
  const messages = toWireMessages({ store, running }, sent.conversation, sent.rows)
  return {
    user: messages.find(({ role }) => role === 'user') ?? null,
    answers: messages.filter(({ role }) => role === 'assistant'),
    warnings: sent.warnings,
  }
}

function chooseModels(names: readonly string[]): readonly string[] {
  if (names.length > 0) return names
  throw new AppError('chat/model', 'No model is chosen for this conversation.')
}

/**
 * @throws AppError `chat/message-not-found` for a message of another conversation, `chat/message` while the message is
 * being generated
 */
function requireParent(
  { store, running }: SendingDependencies,
  conversation: StoredConversation,
  id: string,
): MessageRow {
  const { message } = store.message(id)
  if (message.conversation !== conversation.number) {
    throw new AppError('chat/message-not-found', `There is no message ${id} in this conversation.`)
  }
  if (running.get(id)) {
    throw new AppError('chat/message', 'The previous answer is still being generated. Wait for it, or stop it.')
  }
  return message
}
