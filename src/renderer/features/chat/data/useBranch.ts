import { type QueryClient, queryOptions, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { useAgent } from '#renderer/api/AgentProvider.tsx'
import type { ApiClient } from '#renderer/api/agentClient.ts'
import { listMessages } from '#shared/contract/chatMessages.ts'
import type { ConversationId } from '#shared/contract/chats.ts'
import { type Branch, hasEarlier, hasLater, toBranch, withPage } from './branch.ts'
import { chatKeys } from './keys.ts'

const firstPage = 40
const laterPage = 60
/** Number of messages loaded after a requested one, so that it is not the last one in view. */
const messagesAfterTarget = 20

/** Reads the current branch from its end, and earlier pages on request. */
export function useBranch(conversationId: ConversationId) {
  const agent = useAgent()
  const queryClient = useQueryClient()
  const queryKey = chatKeys.branch(conversationId)
  const reading = useRef(false)
  const query = useQuery(branchQuery(agent, queryClient, conversationId))

  const read = async (input: { before: number; limit: number }): Promise<void> => {
    if (reading.current) return
    reading.current = true
    try {
      const page = await agent(listMessages, { conversationId, ...input })
      queryClient.setQueryData<Branch>(queryKey, (branch) => branch && withPage(branch, page))
    } finally {
      reading.current = false
    }
  }
  const branch = query.data
  return {
    ...query,
    async readEarlier() {
      const first = branch?.messages[0]?.position
      if (first !== undefined && first > 1) await read({ before: first, limit: laterPage })
    },
    async readLater() {
      const last = branch?.messages.at(-1)?.position
      if (branch && last !== undefined && hasLater(branch)) {
        await read({ before: last + 1 + laterPage, limit: laterPage })
      }
    },
    /** Replaces the loaded messages with a page around one message. */
    async readAround(position: number) {
      const page = await agent(listMessages, {
        conversationId,
        before: position + messagesAfterTarget,
        limit: laterPage,
      })
      queryClient.setQueryData<Branch>(queryKey, toBranch(page))
    },
    async readEnd() {
      const page = await agent(listMessages, { conversationId, limit: firstPage })
      queryClient.setQueryData<Branch>(queryKey, toBranch(page))
    },
  }
}

/** Prefetches the messages of a chat while the chat itself is loading. */
export function useBranchAhead(conversationId: ConversationId | undefined): void {
  const agent = useAgent()
  const queryClient = useQueryClient()
  useEffect(() => {
    if (conversationId) void queryClient.prefetchQuery(branchQuery(agent, queryClient, conversationId))
  }, [agent, queryClient, conversationId])
}

function branchQuery(agent: ApiClient, queryClient: QueryClient, conversationId: ConversationId) {
  const queryKey = chatKeys.branch(conversationId)
  return queryOptions({
    queryKey,
    queryFn: ({ signal }) => readNewest(agent, conversationId, queryClient.getQueryData<Branch>(queryKey), signal),
  })
}

/**
 * Refetches the end. If the branch changed, additionally reads the messages needed to connect to the pages loaded
 * before.
 */
async function readNewest(
  agent: ApiClient,
  conversationId: ConversationId,
  cached: Branch | undefined,
  signal: AbortSignal,
): Promise<Branch> {
  if (cached && hasLater(cached)) {
    // The user reads far from the end. The loaded messages stay, and only the total is updated.
    const { total } = await agent(listMessages, { conversationId, limit: 1 }, { signal })
    return { ...cached, total }
  }
  let page = await agent(listMessages, { conversationId, limit: firstPage }, { signal })
  if (!cached) return toBranch(page)
  const first = cached.messages[0]?.position ?? 1
  let branch = toBranch(page)
  for (;;) {
    const joined = withPage(cached, { ...page, messages: branch.messages, beside: branch.beside })
    const isJoined = joined.messages.length > branch.messages.length
    const start = branch.messages[0]?.position ?? 1
    if (isJoined || !hasEarlier(branch) || start <= first) return isJoined ? joined : branch
    page = await agent(listMessages, { conversationId, before: start, limit: laterPage }, { signal })
    branch = withPage(branch, page)
  }
}
