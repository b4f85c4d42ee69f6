import { useQuery } from '@tanstack/react-query'
import { useAgent } from '#renderer/api/AgentProvider.tsx'
import { getMe } from '#shared/contract/auth.ts'

export const meKey = ['settings', 'me'] as const

/** Reads the account at the service. It changes when another wallet signs in. */
export function useMe() {
  const agent = useAgent()
  return useQuery({
    queryKey: meKey,
    queryFn: ({ signal }) => agent(getMe, {}, { signal }),
    staleTime: 0, // wallets may be linked elsewhere
  })
}
