import { useQuery } from '@tanstack/react-query'
import { getPolicy } from '#shared/contract/intents.ts'
import { useAgent } from './AgentProvider.tsx'

export const policyKey = ['local', 'policy'] as const

/** Reads the policy. `LiveUpdates` keeps it up to date. */
export function usePolicy() {
  const agent = useAgent()
  return useQuery({ queryKey: policyKey, queryFn: ({ signal }) => agent(getPolicy, {}, { signal }) })
}
