import { useQuery } from '@tanstack/react-query'
import { listRenewals } from '#shared/contract/domainRenewals.ts'
import { useAgent } from './AgentProvider.tsx'

export const renewalsKey = ['domain renewals'] as const

export function useRenewals() {
  const agent = useAgent()
  return useQuery({
    queryKey: renewalsKey,
    queryFn: ({ signal }) => agent(listRenewals, {}, { signal }),
    staleTime: 0,
  })
}
