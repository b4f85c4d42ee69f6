import { skipToken, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useAgent } from '#renderer/api/AgentProvider.tsx'
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
