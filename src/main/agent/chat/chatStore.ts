import { AppError } from '#shared/appError.ts'
import type { Database } from '#storage/sqlite/openDatabase.ts'
import type { OfferedTool } from '../toolServers/externalTools.ts'
import { type AttachmentRepository, createAttachmentRepository } from './attachmentRepository.ts'
import { type CallRepository, createCallRepository } from './callRepository.ts'
import {
  type ConversationRepository,
  createConversationRepository,
  type StoredConversation,
} from './conversationRepository.ts'
import { createFolderRepository, type FolderRepository } from './folderRepository.ts'
import { createMessageRepository, type MessageRepository, type MessageRow } from './messageRepository.ts'
import { createPromptRepository, type PromptRepository } from './promptRepository.ts'
import { createSearchRepository, type SearchRepository } from './searchRepository.ts'

export type ChatStore = {
  conversations: ConversationRepository
  messages: MessageRepository
  calls: CallRepository
  folders: FolderRepository
  prompts: PromptRepository
  attachments: AttachmentRepository
  search: SearchRepository
  /** Lists the tools of these MCP servers in the form offered to models. */
  listOffered(servers: readonly string[]): readonly OfferedTool[]
  atomically<T>(work: () => T): T
  /** @throws AppError `chat/not-found`, including for a deleted conversation */
  conversation(id: string): StoredConversation
  /** Returns a message with its conversation. @throws AppError `chat/message-not-found` */
  message(id: string): { message: MessageRow; conversation: StoredConversation }
}

export function createChatStore(database: Database, offered: ChatStore['listOffered'] = () => []): ChatStore {
  const conversations = createConversationRepository(database)
  const messages = createMessageRepository(database)
  return {
    conversations,
    messages,
    calls: createCallRepository(database),
    folders: createFolderRepository(database),
    prompts: createPromptRepository(database),
    attachments: createAttachmentRepository(database),
    search: createSearchRepository(database),
    listOffered: offered,
    atomically: (work) => database.transaction(work).immediate(),
    conversation(id) {
      const conversation = conversations.find(id)
      if (conversation && conversation.deletedAtMs === null) return conversation
      throw new AppError('chat/not-found', `There is no conversation ${id}.`)
    },
    message(id) {
      const message = messages.find(id)
      const conversation = message && conversations.findByNumber(message.conversation)
      if (message && conversation && conversation.deletedAtMs === null) return { message, conversation }
      throw new AppError('chat/message-not-found', `There is no message ${id}.`)
    },
  }
}
