import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useDeferredValue, useEffect, useState } from 'react'
import { useAgent } from '#renderer/api/AgentProvider.tsx'
import { estimateMessage } from '#shared/contract/chatMoney.ts'
import type { AttachmentId, ConversationId, MessageId } from '#shared/contract/chats.ts'
import { chatKeys } from '../data/keys.ts'

const pauseMs = 350

type Estimated = {
  conversationId: ConversationId | null
  parentId: MessageId | null
  text: string
  attachmentIds: readonly AttachmentId[]
  models: readonly string[]
}

/** Estimates the cost of the message, debounced. */
export function useEstimate({ conversationId, parentId, text, attachmentIds, models }: Estimated) {
  const agent = useAgent()
  const settled = useSettledText(text)
  const isEmpty = settled.trim() === '' && attachmentIds.length === 0
  const query = useQuery({
    queryKey: [...chatKeys.estimates, conversationId, parentId, settled, attachmentIds, models],
    queryFn: ({ signal }) =>
      agent(
        estimateMessage,
        {
          conversation_id: conversationId,
          parent_id: parentId,
          text: settled,
          attachment_ids: [...attachmentIds],
          models: [...models],
        },
        { signal },
      ),
    enabled: !isEmpty && models.length > 0,
    placeholderData: keepPreviousData,
    retry: false,
    gcTime: 30_000,
    staleTime: 30_000,
  })
  return useDeferredValue(isEmpty ? undefined : query.data)
}

function useSettledText(text: string): string {
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), pauseMs)
    return () => clearTimeout(timer)
  }, [text])
  return settled
}
