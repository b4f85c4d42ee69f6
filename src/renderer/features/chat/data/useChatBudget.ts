import { useQuery } from '@tanstack/react-query'
import { useAgent } from '#renderer/api/AgentProvider.tsx'
import { getChatBudget } from '#shared/contract/chatMoney.ts'
import { chatKeys } from './keys.ts'

/** Reads the limits of all chats and today's usage. */
export function useChatBudget() {
  const agent = useAgent()
  return useQuery({
    queryKey: chatKeys.budget,
    queryFn: ({ signal }) => agent(getChatBudget, {}, { signal }),
  })
}
