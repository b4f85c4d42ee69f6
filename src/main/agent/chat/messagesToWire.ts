import { parseJson } from '#platform/parsing/boundedJson.ts'
import { ChatFailure, type Message, MessageUsage } from '#shared/contract/chatMessages.ts'
import type { MessageId } from '#shared/contract/chats.ts'
import { toIsoTime } from '#shared/time.ts'
import type { ActiveRuns } from './activeRuns.ts'
import { toWireAttachment } from './attachmentRepository.ts'
import { callToWire } from './callRepository.ts'
import type { ChatStore } from './chatStore.ts'
import type { StoredConversation } from './conversationRepository.ts'
import type { MessageRow } from './messageRepository.ts'

type MessageContext = { store: ChatStore; running: Pick<ActiveRuns, 'get'> }

/** Converts messages of one conversation for the window. A message in progress includes its text so far. */
export function toWireMessages(
  { store, running }: MessageContext,
  conversation: StoredConversation,
  rows: readonly MessageRow[],
): Message[] {
  const siblings = groupBy(
    store.messages.children(conversation.number, [...new Set(rows.map(({ parent }) => parent))]),
    ({ parent }) => parent,
  )
  const attachments = groupBy(store.attachments.list(rows.map(({ number }) => number)), ({ message }) => message)
  const numbers = rows.filter(({ role }) => role === 'assistant').map(({ number }) => number)
  const offsets = new Map(
    store.calls.listSteps(numbers).map(({ message, step, at: offset }) => [`${message} ${step}`, offset]),
  )
  const calls = groupBy(store.calls.listCalls(numbers), ({ message }) => message)
  const ids = new Map(rows.map(({ number, id }) => [number, id]))
  const findId = (number: number) => (number === 0 ? null : (ids.get(number) ?? store.messages.findId(number) ?? null))

  return rows.map((row) => {
    const answer = row.finished_at_ms === null ? running.get(row.id) : undefined
    const usage = answer?.usage ?? (row.usage === null ? null : MessageUsage.parse(parseJson(row.usage)))
    return {
      id: row.id as MessageId, // row ids are created here
      conversation_id: conversation.id,
      parent_id: findId(row.parent) as MessageId | null,
      position: row.position,
      role: row.role,
      // The final state could not be stored, for example because the disk was full.
      state: answer?.state ?? (row.finished_at_ms === null ? 'interrupted' : row.state),
      model: row.model,
      text: answer?.text ?? row.text,
      reasoning: answer?.reasoning ?? row.reasoning,
      calls:
        answer === undefined
          ? (calls.get(row.number) ?? []).map((call) =>
              callToWire(call, offsets.get(`${call.message} ${call.step}`) ?? 0),
            )
          : [...answer.calls],
      attachments: (attachments.get(row.number) ?? []).map(toWireAttachment),
      sibling_ids: (siblings.get(row.parent) ?? []).map(({ id }) => id as MessageId),
      group_id: row.group_id,
      error: row.error === null ? null : ChatFailure.parse(parseJson(row.error)),
      usage,
      finish_reason: row.finish_reason,
      omitted_messages: row.omitted,
      clamped_max_tokens: row.clamped,
      warnings: parseJson(row.warnings) as string[],
      created_at: toIsoTime(row.created_at_ms),
      finished_at: row.finished_at_ms === null ? null : toIsoTime(row.finished_at_ms),
    }
  })
}

function groupBy<T>(items: readonly T[], keyOf: (item: T) => number): Map<number, T[]> {
  const groups = new Map<number, T[]>()
  for (const item of items) {
    const group = groups.get(keyOf(item))
    if (group) group.push(item)
    else groups.set(keyOf(item), [item])
  }
  return groups
}
