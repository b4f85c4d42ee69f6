import { AppError } from '#shared/appError.ts'
import type { Message, Sent } from '#shared/contract/chatMessages.ts'
import type { LimitState } from '#shared/contract/chats.ts'
import type { ListedModel } from '#shared/contract/inference.ts'
import type { LocalEvents } from '../base/localEvents.ts'
import type { SpendAsk, SpendBudgets } from '../budgets/spendBudgets.ts'
import type { AnswerJob } from './answering.ts'
import { answerPlan } from './answerPlan.ts'
import { turnLimit } from './answerTurn.ts'
import type { ChatStore } from './chatStore.ts'
import { toolboxOf } from './chatToolbox.ts'
import type { StoredConversation } from './conversationRepository.ts'
import { titleOf } from './conversationTitle.ts'
import type { MessageRow, MessageWeight } from './messageRepository.ts'
import type { ModelList } from './modelList.ts'
import { attachmentOf, blankAnswer, blankMessage, weightOf } from './newMessages.ts'
import type { RunningAnswers } from './runningAnswers.ts'
import { toldMessages } from './toldMessages.ts'

export type SendingParts = {
  store: ChatStore
  budgets: Pick<SpendBudgets, 'reserve'>
  models: ModelList
  running: RunningAnswers
  begin: (job: AnswerJob) => void
  /** Whether the user stopped everything. */
  isStopped: () => boolean
  publish: LocalEvents['publish']
  /** Of random hexadecimal digits. */
  newId: () => string
  now: () => number
}

export type Sending = {
  /** @throws AppError `chat/…`, `budget/exceeded`, `service/unavailable`; nothing is kept or sent then */
  send(conversationId: string, message: SentMessage): Promise<Sent>
  regenerate(messageId: string, asked: Asked): Promise<Sent>
  stop(messageId: string): Message
}

type SentMessage = {
  parent_id: string | null
  text: string
  attachment_ids: readonly string[]
  models?: readonly string[] | undefined
  request_id?: string | undefined
}
type Asked = { models?: readonly string[] | undefined; model?: string | undefined; request_id?: string | undefined }

/** Answers that are made at once. */
const mostRunning = 32

export function sending(parts: SendingParts): Sending {
  const { store, budgets, running, now } = parts

  const told = (conversation: StoredConversation, rows: readonly MessageRow[], warnings: LimitState[]): Sent => {
    const messages = toldMessages({ store, running }, conversation, rows)
    return {
      user: messages.find(({ role }) => role === 'user') ?? null,
      answers: messages.filter(({ role }) => role === 'assistant'),
      warnings,
    }
  }
  const repeated = (conversation: StoredConversation, requestId: string | undefined): Sent | undefined => {
    const rows = requestId === undefined ? [] : store.messages.ofRequest(conversation.number, requestId)
    return rows.length === 0 ? undefined : told(conversation, rows, [])
  }

  type Answered = {
    conversation: StoredConversation
    models: readonly ListedModel[]
    weights: readonly MessageWeight[]
    /** Adds the message of the person, or finds it. */
    question: () => MessageRow
    requestId: string | undefined
  }

  /** In a transaction: the reservation and what it is for. */
  const answered = ({ conversation, models, weights, question, requestId }: Answered) => {
    if (parts.isStopped()) throw new AppError('intent/stopped', 'Everything is stopped.')
    if (running.count() + models.length > mostRunning) {
      throw new AppError('chat/too-many', `${mostRunning} answers are being made already.`, { retryAfterSeconds: 5 })
    }
    const { tools, parameters } = conversation
    if (tools.enabled && models.length > 1) {
      throw new AppError('chat/model', 'With tools on, one model answers at a time.')
    }
    const systemPrompt = toolboxOf(store, conversation).weighed
    const mostOfTurn = turnLimit(conversation)
    const planned = models.map((model) => ({
      id: `msg_${parts.newId()}`,
      plan: answerPlan(model, { weights, systemPrompt, parameters }),
      reserved: 0,
    }))
    const warnings = budgets.reserve(
      { conversationId: conversation.id, ownLimits: conversation.limits },
      planned.map(
        (it): SpendAsk => ({
          id: it.id,
          model: it.plan.model.id,
          plan(available) {
            const amount = it.plan.plan(Math.min(available, mostOfTurn))
            it.reserved = amount ?? 0
            return amount
          },
        }),
      ),
    )
    const user = question()
    const groupId = planned.length > 1 ? `grp_${parts.newId()}` : null
    const jobs = planned.map(({ id, plan, reserved }) => {
      // The message is new: nothing but the context knows of it yet.
      plan.context.messages = plan.context.messages.map((number) => (number === 0 ? user.number : number))
      const row = store.messages.add({
        ...blankAnswer(plan),
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

  const begun = (conversation: StoredConversation, jobs: readonly AnswerJob[]): void => {
    for (const job of jobs) parts.begin({ ...job, conversation })
    parts.publish({ type: 'chat.changed', conversation_id: conversation.id })
  }

  return {
    async send(conversationId, { parent_id, text, attachment_ids, ...asked }) {
      const before = repeated(store.conversation(conversationId), asked.request_id)
      if (before) return before
      if (text.trim() === '' && attachment_ids.length === 0) {
        throw new AppError('request/invalid', '`text` must not be empty where nothing is attached.')
      }
      const names = asked.models ?? store.conversation(conversationId).models
      const models = await parts.models.named(chosen(names))
      const sent = store.atomically(() => {
        const conversation = store.conversation(conversationId)
        const again = repeated(conversation, asked.request_id)
        if (again) return { again }
        const parent = parent_id === null ? undefined : parentIn(parts, conversation, parent_id)
        const attachments = attachment_ids.map((id) => attachmentOf(store, id))
        const weight = weightOf(text, attachments)
        const { user, jobs, warnings } = answered({
          conversation,
          models,
          weights: [
            ...(parent ? store.messages.weights(parent) : []),
            { ...weight, number: 0, position: 0, role: 'user' },
          ],
          requestId: asked.request_id,
          question() {
            const row = store.messages.add({
              ...blankMessage,
              id: `msg_${parts.newId()}`,
              conversation: conversation.number,
              parent,
              text,
              bytes: weight.bytes,
              tokens: weight.tokens,
              request_id: asked.request_id ?? null,
              created_at_ms: now(),
              finished_at_ms: now(),
            })
            store.library.attach(row.number, attachment_ids)
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
            conversation.messageCount === 0 && { title: titleOf(text, attachments[0]?.name) }),
        }
        store.conversations.save(changed)
        return { conversation: changed, user, jobs, warnings }
      })
      if ('again' in sent) return sent.again
      begun(sent.conversation, sent.jobs)
      return told(sent.conversation, [sent.user, ...sent.jobs.map(({ row }) => row)], sent.warnings)
    },

    async regenerate(messageId, asked) {
      const { message, conversation: of } = store.message(messageId)
      const before = repeated(of, asked.request_id)
      if (before) return before
      const own = message.role === 'assistant' && message.model !== null ? [message.model] : of.models
      const models = await parts.models.named(chosen(asked.models ?? (asked.model ? [asked.model] : own)))
      const sent = store.atomically(() => {
        const { message: asked_, conversation } = store.message(messageId)
        const again = repeated(conversation, asked.request_id)
        if (again) return { again }
        const user = asked_.role === 'user' ? asked_ : store.messages.numbered([asked_.parent])[0]
        if (user?.role !== 'user') {
          throw new AppError('chat/message', 'Nothing was asked before this answer, so it cannot be made again.')
        }
        const made = answered({
          conversation,
          models,
          weights: store.messages.weights(user),
          question: () => user,
          requestId: asked.request_id,
        })
        const changed: StoredConversation = {
          ...conversation,
          leafId: made.jobs[0]?.row.id ?? conversation.leafId,
          messageCount: conversation.messageCount + made.jobs.length,
          updatedAtMs: now(),
        }
        store.conversations.save(changed)
        return { conversation: changed, ...made }
      })
      if ('again' in sent) return sent.again
      begun(sent.conversation, sent.jobs)
      return told(
        sent.conversation,
        sent.jobs.map(({ row }) => row),
        sent.warnings,
      )
    },

    stop(messageId) {
      const { message, conversation } = store.message(messageId)
      running.get(messageId)?.stop()
      const [stopped] = toldMessages({ store, running }, conversation, [message])
      if (!stopped) throw new Error('A message was not told.')
      return stopped
    },
  }
}

function chosen(names: readonly string[]): readonly string[] {
  if (names.length > 0) return names
  throw new AppError('chat/model', 'No model is chosen for this conversation.')
}

/** @throws AppError `chat/message-not-found` for one of elsewhere, `chat/message` while it is being made */
function parentIn({ store, running }: SendingParts, conversation: StoredConversation, id: string): MessageRow {
  const { message } = store.message(id)
  if (message.conversation !== conversation.number) {
    throw new AppError('chat/message-not-found', `There is no message ${id} in this conversation.`)
  }
  if (running.get(id)) {
    throw new AppError('chat/message', 'The answer before is still being made: wait for it, or stop it.')
  }
  return message
}
