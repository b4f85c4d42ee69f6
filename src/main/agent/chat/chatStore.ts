import { AppError } from '#shared/appError.ts'
import type { Database } from '#storage/openDatabase.ts'
import type { OfferedTool } from '../toolServers/servedTools.ts'
import { type CallRepository, callRepository } from './callRepository.ts'
import {
  type ConversationRepository,
  conversationRepository,
  type StoredConversation,
} from './conversationRepository.ts'
import { type LibraryRepository, libraryRepository } from './libraryRepository.ts'
import { type MessageRepository, type MessageRow, messageRepository } from './messageRepository.ts'
import { type SearchRepository, searchRepository } from './searchRepository.ts'

/** What is kept of chats. */
export type ChatStore = {
  conversations: ConversationRepository
  messages: MessageRepository
  calls: CallRepository
  library: LibraryRepository
  search: SearchRepository
  /** What the models of a chat are told of the tools of these MCP servers. */
  offered(servers: readonly string[]): readonly OfferedTool[]
  /** All of it or nothing. */
  atomically<T>(work: () => T): T
  /** @throws AppError `chat/not-found`, also for a deleted one */
  conversation(id: string): StoredConversation
  /** With the conversation that it is in. @throws AppError `chat/message-not-found` */
  message(id: string): { message: MessageRow; conversation: StoredConversation }
}

export function chatStore(database: Database, offered: ChatStore['offered'] = () => []): ChatStore {
  const conversations = conversationRepository(database)
  const messages = messageRepository(database)
  return {
    conversations,
    messages,
    calls: callRepository(database),
    library: libraryRepository(database),
    search: searchRepository(database),
    offered,
    atomically: (work) => database.transaction(work).immediate(),
    conversation(id) {
      const found = conversations.find(id)
      if (found && found.deletedAtMs === null) return found
      throw new AppError('chat/not-found', `There is no conversation ${id}.`)
    },
    message(id) {
      const message = messages.find(id)
      const conversation = message && conversations.numbered(message.conversation)
      if (message && conversation && conversation.deletedAtMs === null) return { message, conversation }
      throw new AppError('chat/message-not-found', `There is no message ${id}.`)
    },
  }
}
