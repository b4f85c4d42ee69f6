import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useAgent } from '#renderer/api/AgentProvider.tsx'
import { useLiveEvent } from '#renderer/api/liveEvents.ts'
import { readAgain } from '#renderer/api/readAgain.ts'
import { listGrants, revokeGrant } from '#shared/contract/intents.ts'

export const grantsKey = ['settings', 'grants'] as const

export function useGrants() {
  const agent = useAgent()
  const queryClient = useQueryClient()
  useLiveEvent(({ type }) => {
    if (type === 'ready' || type === 'grants.changed') void readAgain(queryClient, grantsKey)
  })
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
