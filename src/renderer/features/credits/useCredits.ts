import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { listApiKeys } from '#shared/contract/accounts.ts'
import { getMe } from '#shared/contract/auth.ts'
import { getBalance, getSpending, type SpendingGrouping } from '#shared/contract/credits.ts'
import { useAgent } from '../../api/AgentProvider.tsx'

/** Prefix of all queries that a change of credits invalidates. */
export const creditsKey = ['credits'] as const
export const accessKey = ['credits access'] as const

export function useCreditBalance() {
  const agent = useAgent()
  return useQuery({
    queryKey: [...creditsKey, 'balance'],
    queryFn: ({ signal }) => agent(getBalance, {}, { signal }),
    staleTime: 0,
  })
}

export function useSpending(period: { from: string; to: string; by: SpendingGrouping }) {
  const agent = useAgent()
  return useQuery({
    queryKey: [...creditsKey, 'spending', period],
    queryFn: ({ signal }) => agent(getSpending, period, { signal }),
    placeholderData: keepPreviousData,
    staleTime: 0,
  })
}

export function useCreditKeys() {
  const agent = useAgent()
  return useQuery({
    queryKey: [...creditsKey, 'keys'],
    queryFn: async ({ signal }) => (await agent(listApiKeys, {}, { signal })).api_keys,
    staleTime: 0,
  })
}

/** Reads the account. The owner can grant, adjust and refund credits. */
export function useCreditAccount() {
  const agent = useAgent()
  return useQuery({ queryKey: accessKey, queryFn: ({ signal }) => agent(getMe, {}, { signal }) })
}
