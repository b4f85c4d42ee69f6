import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useAgent } from '#renderer/api/AgentProvider.tsx'
import { useLiveEvent } from '#renderer/api/liveEvents.ts'
import { readAgain } from '#renderer/api/readAgain.ts'
import { getMe } from '#shared/contract/auth.ts'

const meKey = ['settings', 'me'] as const

/** Reads the account at the service. It changes when another wallet signs in. */
export function useMe() {
  const agent = useAgent()
  const queryClient = useQueryClient()
  useLiveEvent(({ type }) => {
    if (type === 'ready') void readAgain(queryClient, meKey)
  })
  return useQuery({
    queryKey: meKey,
    queryFn: ({ signal }) => agent(getMe, {}, { signal }),
    staleTime: 0, // wallets may be linked elsewhere
  })
}
