import { createEventStreamResponse } from '#platform/http/answers.ts'
import { AppError } from '#shared/appError.ts'
import type { Message } from '#shared/contract/chatMessages.ts'
import {
  getMessage,
  listMessages,
  regenerateMessage,
  sendMessage,
  stopMessage,
  streamMessage,
} from '#shared/contract/chatMessages.ts'
import {
  changeConversation,
  createConversation,
  deleteConversation,
  forkConversation,
  getConversation,
  listConversations,
  type MessageId,
  restoreConversation,
  searchConversations,
} from '#shared/contract/chats.ts'
import { createLocalEndpoint, createLocalEventsEndpoint, type LocalEndpoint } from '../base/localEndpoint.ts'
import type { ActiveRuns } from './activeRuns.ts'
import type { ChatStore } from './chatStore.ts'
import type { Conversations } from './conversations.ts'
import { toWireMessages } from './messagesToWire.ts'
import type { Sending } from './sending.ts'
import { streamMessageEvents } from './streamMessageEvents.ts'

type Options = { store: ChatStore; running: ActiveRuns; conversations: Conversations; sending: Sending }

export function createChatRoutes({ store, running, conversations, sending }: Options): LocalEndpoint[] {
  const read = (id: string): Message => {
    const { message, conversation } = store.message(id)
    const [view] = toWireMessages({ store, running }, conversation, [message])
    if (!view) throw new Error('A message was not published.')
    return view
  }
  return [
    createLocalEndpoint(listConversations, ({ query: { folder_id, ...query } }) =>
      conversations.list({
        folderId: folder_id === 'none' ? null : folder_id,
        pinned: query.pinned,
        cursor: query.cursor,
        limit: query.limit,
      }),
    ),
    createLocalEndpoint(createConversation, ({ body }) => conversations.create(body)),
    createLocalEndpoint(getConversation, ({ params }) => conversations.get(params.conversationId)),
    createLocalEndpoint(changeConversation, ({ params, body }) => conversations.change(params.conversationId, body)),
    createLocalEndpoint(deleteConversation, ({ params }) => conversations.delete(params.conversationId)),
    createLocalEndpoint(restoreConversation, ({ params }) => conversations.restore(params.conversationId)),
    createLocalEndpoint(forkConversation, ({ params, body }) =>
      conversations.fork(params.conversationId, body.message_id),
    ),
    createLocalEndpoint(searchConversations, ({ query }) => conversations.search(query)),
    createLocalEndpoint(listMessages, ({ params, query }) =>
      readMessagesPage({ store, running }, params.conversationId, query),
    ),
    createLocalEndpoint(getMessage, ({ params }) => {
      const { message, conversation } = store.message(params.messageId)
      return {
        message: read(params.messageId),
        conversation: conversations.summary(conversation),
        leaf_id: store.messages.newestLeaf(message).id as MessageId, // row ids are created here
      }
    }),
    createLocalEndpoint(sendMessage, ({ params, body }) => sending.send(params.conversationId, body)),
    createLocalEndpoint(regenerateMessage, ({ params, body }) => sending.regenerate(params.messageId, body)),
    createLocalEndpoint(stopMessage, ({ params }) => sending.stop(params.messageId)),
    createLocalEventsEndpoint(streamMessage, ({ params }, { signal }) => {
      const { messageId } = params
      store.message(messageId) // throws if the message does not exist
      return createEventStreamResponse(
        streamMessageEvents({ run: running.get(messageId), read: () => read(messageId), signal }),
      )
    }),
  ]
}

type Page = { leaf_id?: string | undefined; before?: number | undefined; limit: number }

function readMessagesPage(
  context: Pick<Options, 'store' | 'running'>,
  conversationId: string,
  { leaf_id, before, limit }: Page,
) {
  const { messages } = context.store
  const conversation = context.store.conversation(conversationId)
  const leafId = leaf_id ?? conversation.leafId
  if (leafId === null) return { messages: [], beside: [], total: 0, leaf_id: null }
  const leaf = context.store.message(leafId).message
  if (leaf.conversation !== conversation.number) {
    throw new AppError('chat/message-not-found', `There is no message ${leafId} in this conversation.`)
  }
  const rows = messages.page(leaf, before ?? leaf.position + 1, limit)
  const groups = rows.flatMap(({ group_id }) => group_id ?? [])
  const listedNumbers = new Set(rows.map(({ number }) => number))
  const beside = groups.length === 0 ? [] : messages.ofGroups(groups).filter(({ number }) => !listedNumbers.has(number))
  return {
    messages: toWireMessages(context, conversation, rows),
    beside: toWireMessages(context, conversation, beside),
    total: leaf.position,
    leaf_id: leaf.id as MessageId, // row ids are created here
  }
}
