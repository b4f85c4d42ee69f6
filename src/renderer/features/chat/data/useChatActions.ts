import { useQueryClient } from '@tanstack/react-query'
import { useAgent } from '#renderer/api/AgentProvider.tsx'
import { readAgain } from '#renderer/api/readAgain.ts'
import { goTo } from '#renderer/ui/route.ts'
import { notify } from '#renderer/ui/toast.tsx'
import type { Message } from '#shared/contract/chatMessages.ts'
import { regenerateMessage, sendMessage, stopMessage } from '#shared/contract/chatMessages.ts'
import {
  type Conversation,
  type ConversationId,
  changeConversation,
  createConversation,
  deleteConversation,
  forkConversation,
  type MessageId,
  restoreConversation,
} from '#shared/contract/chats.ts'
import type { Input } from '#shared/contract/route.ts'
import { type Branch, withMessage, withSent } from './branch.ts'
import { chatKeys } from './keys.ts'

type Sending = { conversationId: ConversationId } & Omit<Input<typeof sendMessage>, 'conversationId' | 'request_id'>
export type Changes = Omit<Input<typeof changeConversation>, 'conversationId'>

/** Returns actions on conversations and messages. Each rejects with the error of the request. */
export function useChatActions() {
  const agent = useAgent()
  const queryClient = useQueryClient()

  const keep = (conversation: Conversation) => {
    queryClient.setQueryData(chatKeys.conversation(conversation.id), conversation)
    void readAgain(queryClient, chatKeys.lists)
    return conversation
  }
  const actions = {
    async create(settings: Input<typeof createConversation>): Promise<Conversation> {
      return keep(await agent(createConversation, settings))
    },
    async change(conversationId: ConversationId, changes: Changes): Promise<Conversation> {
      const changed = keep(await agent(changeConversation, { conversationId, ...changes }))
      if (changes.leaf_id) await readAgain(queryClient, chatKeys.branch(conversationId))
      if (
        changes.limits !== undefined ||
        changes.models ||
        changes.parameters ||
        changes.system_prompt !== undefined ||
        changes.tools
      ) {
        void readAgain(queryClient, chatKeys.estimates)
      }
      return changed
    },
    async remove(conversationId: ConversationId, title: string): Promise<void> {
      await agent(deleteConversation, { conversationId })
      void readAgain(queryClient, chatKeys.lists)
      notify.done(`Deleted “${truncateTitle(title)}”`, {
        action: { label: 'Undo', run: () => void actions.restore(conversationId) },
      })
    },
    async restore(conversationId: ConversationId): Promise<void> {
      try {
        keep(await agent(restoreConversation, { conversationId }))
        goTo('chat', conversationId)
      } catch (error) {
        notify.failed(error)
      }
    },
    async send({ conversationId, ...message }: Sending): Promise<void> {
      const sent = await agent(sendMessage, { conversationId, ...message, request_id: crypto.randomUUID() })
      const key = chatKeys.branch(conversationId)
      await queryClient.cancelQueries({ queryKey: key })
      queryClient.setQueryData<Branch>(key, (branch) =>
        withSent(branch ?? { messages: [], beside: [], total: 0, leafId: null }, sent),
      )
      void readAgain(queryClient, chatKeys.conversation(conversationId))
      // Sending also changes the siblings of the new message.
      void readAgain(queryClient, key)
    },
    async regenerate({ id, conversation_id: conversationId }: Message, model?: string): Promise<void> {
      await agent(regenerateMessage, { messageId: id, ...(model && { model }), request_id: crypto.randomUUID() })
      await readAgain(queryClient, chatKeys.branch(conversationId))
    },
    async stop(messageId: MessageId, conversationId: ConversationId): Promise<void> {
      const message = await agent(stopMessage, { messageId })
      queryClient.setQueryData<Branch>(chatKeys.branch(conversationId), (value) => value && withMessage(value, message))
    },
    async fork(conversationId: ConversationId, messageId: MessageId): Promise<void> {
      const { id } = keep(await agent(forkConversation, { conversationId, message_id: messageId }))
      goTo('chat', id)
      notify.done('Forked to a new conversation')
    },
  }
  return actions
}

export type ChatActions = ReturnType<typeof useChatActions>

function truncateTitle(title: string): string {
  return title.length > 40 ? `${title.slice(0, 40)}…` : title
}
