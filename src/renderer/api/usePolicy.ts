import { type QueryClient, useQuery } from '@tanstack/react-query'
import { getPolicy, type Policy } from '#shared/contract/intents.ts'
import type { LocalEventOf } from '#shared/contract/localApi.ts'
import { useAgent } from './AgentProvider.tsx'
import { patchAndRefetch } from './readAgain.ts'

export const policyKey = ['local', 'policy'] as const

export function usePolicy() {
  const agent = useAgent()
  return useQuery({ queryKey: policyKey, queryFn: ({ signal }) => agent(getPolicy, {}, { signal }) })
}

export function patchPolicy(queryClient: QueryClient, { policy }: LocalEventOf<'policy.changed'>): void {
  void patchAndRefetch<Policy>(queryClient, policyKey, () => policy)
}
