import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useAgent } from '#renderer/api/AgentProvider.tsx'
import { readAgain } from '#renderer/api/readAgain.ts'
import { listGrants, revokeGrant } from '#shared/contract/intents.ts'

export const grantsKey = ['settings', 'grants'] as const

export function useGrants() {
  const agent = useAgent()
  return useQuery({
    queryKey: grantsKey,
    queryFn: async ({ signal }) => (await agent(listGrants, {}, { signal })).grants,
    staleTime: 0, // grants expire without an event
  })
}

export function useRevokeGrant(): (id: string) => Promise<void> {
  const agent = useAgent()
  const queryClient = useQueryClient()
  return async (id) => {
    await agent(revokeGrant, { grantId: id })
    await readAgain(queryClient, grantsKey)
  }
}
