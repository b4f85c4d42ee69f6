import { createContext, use } from 'react'
import type { Message } from '#shared/contract/chatMessages.ts'
import type { ConversationId, MessageId } from '#shared/contract/chats.ts'
import type { ChatActions } from '../data/useChatActions.ts'

/** Context that messages need from the surrounding screen. */
export type ConversationWork = {
  conversationId: ConversationId
  actions: ChatActions
  /** User message being edited. */
  editing: MessageId | undefined
  edit(id: MessageId | undefined): void
  sendEdited(message: Message, text: string): Promise<void>
  openLimits(): void
  /** Runs an action and reports its errors. */
  attempt(work: () => Promise<unknown>): void
}

export const ConversationContext = createContext<ConversationWork | undefined>(undefined)

export function useConversationWork(): ConversationWork {
  const work = use(ConversationContext)
  if (!work) throw new Error('useConversationWork must be used within a ConversationView')
  return work
}
