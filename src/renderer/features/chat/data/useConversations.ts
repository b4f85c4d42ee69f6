import { skipToken, useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { useAgent } from '#renderer/api/AgentProvider.tsx'
import { useLiveEvent } from '#renderer/api/liveEvents.ts'
import { readAgain } from '#renderer/api/readAgain.ts'
import {
  type ConversationId,
  type FolderId,
  getConversation,
  listConversations,
  listFolders,
  searchConversations,
} from '#shared/contract/chats.ts'
import { chatKeys } from './keys.ts'

const pageSize = 100

/** Reads all conversations, or those of one folder, in pages. */
export function useConversations(folderId: FolderId | undefined) {
  const agent = useAgent()
  const filter = folderId === undefined ? {} : { folder_id: folderId }
  const pages = useInfiniteQuery({
    queryKey: chatKeys.list(filter),
    queryFn: ({ pageParam: cursor, signal }) =>
      agent(listConversations, { ...filter, limit: pageSize, ...(cursor && { cursor }) }, { signal }),
    initialPageParam: '',
    getNextPageParam: ({ next_cursor: next }) => next,
  })
  return { ...pages, conversations: pages.data?.pages.flatMap(({ conversations }) => conversations) }
}

export function useFolders() {
  const agent = useAgent()
  return useQuery({
    queryKey: chatKeys.folders,
    queryFn: async ({ signal }) => (await agent(listFolders, {}, { signal })).folders,
  })
}

export function useSearch(words: string) {
  const agent = useAgent()
  return useInfiniteQuery({
    queryKey: [...chatKeys.search, words],
    queryFn: ({ pageParam: offset, signal }) => agent(searchConversations, { q: words, offset }, { signal }),
    initialPageParam: 0,
    getNextPageParam: ({ has_more: more }, pages) =>
      more ? pages.reduce((sum, { hits }) => sum + hits.length, 0) : undefined,
    enabled: words !== '',
    staleTime: 0,
  })
}

/** @param conversationId undefined if no conversation is open */
export function useConversation(conversationId: ConversationId | undefined) {
  const agent = useAgent()
  return useQuery({
    queryKey: [...chatKeys.conversations, conversationId],
    queryFn: conversationId ? ({ signal }) => agent(getConversation, { conversationId }, { signal }) : skipToken,
  })
}

/** Refetches conversations and messages changed by events. */
export function useLiveChat(): void {
  const queryClient = useQueryClient()
  const again = (key: readonly unknown[]) => void readAgain(queryClient, key)
  useLiveEvent((event) => {
    if (event.type === 'ready') again(chatKeys.all)
    if (event.type === 'prompts.changed') again(chatKeys.prompts)
    if (event.type !== 'chat.changed' && event.type !== 'chat.spend') return
    again(chatKeys.budget)
    again(chatKeys.estimates)
    const id = event.conversation_id as ConversationId | null // events contain the id as a plain string
    if (event.type === 'chat.spend') {
      if (id === null) again(chatKeys.conversations)
      else again(chatKeys.conversation(id))
      return
    }
    again(chatKeys.lists)
    again(chatKeys.folders)
    again(chatKeys.search)
    if (id === null) return
    again(chatKeys.conversation(id))
    again(chatKeys.branch(id))
  })
}
