import { useQuery } from '@tanstack/react-query'
import { getPaymentBudgets } from '#shared/contract/paymentBudgets.ts'
import { useAgent } from './AgentProvider.tsx'

export const budgetsKey = ['payment budgets'] as const

export function usePaymentBudgets() {
  const agent = useAgent()
  return useQuery({
    queryKey: budgetsKey,
    queryFn: ({ signal }) => agent(getPaymentBudgets, {}, { signal }),
    staleTime: 0,
  })
}
