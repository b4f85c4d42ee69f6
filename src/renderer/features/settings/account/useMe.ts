import { useQuery } from '@tanstack/react-query'
import { getMe } from '../../../../shared/contract/auth.ts'
import { useAgent } from '../../../agent/AgentProvider.tsx'

/** Who this Steward is to the service. */
export function useMe() {
  const agent = useAgent()
  return useQuery({
    queryKey: ['settings', 'me'],
    queryFn: ({ signal }) => agent(getMe, {}, { signal }),
    staleTime: 0, // wallets are linked elsewhere
  })
}
