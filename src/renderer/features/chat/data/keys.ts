import type { ConversationId } from '#shared/contract/chats.ts'

export const chatKeys = {
  all: ['chat'] as const,
  lists: ['chat', 'list'] as const,
  list: (filter: object) => ['chat', 'list', filter] as const,
  search: ['chat', 'search'] as const,
  folders: ['chat', 'folders'] as const,
  conversations: ['chat', 'conversation'] as const,
  conversation: (id: ConversationId) => ['chat', 'conversation', id] as const,
  branch: (id: ConversationId) => ['chat', 'branch', id] as const,
  estimates: ['chat', 'estimate'] as const,
  budget: ['chat', 'budget'] as const,
  prompts: ['chat', 'prompts'] as const,
  intents: ['chat', 'intent'] as const,
  models: ['chat', 'models'] as const,
}
