import { useQuery, useQueryClient } from '@tanstack/react-query'
import { listRenewals } from '#shared/contract/domainRenewals.ts'
import { useAgent } from './AgentProvider.tsx'
import { useLiveEvent } from './liveEvents.ts'
import { readAgain } from './readAgain.ts'

export const renewalsKey = ['domain renewals'] as const

/** Refetches renewals when renewals, domains or budgets change. */
export function useLiveRenewals(): void {
  const queryClient = useQueryClient()
  useLiveEvent(({ type }) => {
    const isOther = [
      'ready',
      'domain-renewals.changed',
      'local-domains.changed',
      'payment-budgets.changed',
      'wallet.changed',
    ]
    if (isOther.includes(type)) void readAgain(queryClient, renewalsKey)
  })
}

export function useRenewals() {
  const agent = useAgent()
  return useQuery({
    queryKey: renewalsKey,
    queryFn: ({ signal }) => agent(listRenewals, {}, { signal }),
    staleTime: 0,
  })
}
