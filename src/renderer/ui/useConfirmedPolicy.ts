import { getPolicy, type Policy } from '#shared/contract/intents.ts'
import { useAgent } from '../api/AgentProvider.tsx'
import { useConfirmedChange } from './useConfirmedChange.ts'

/** Changes the policy. A change that allows more requires confirmation. */
export function useConfirmedPolicy(): (change: () => Promise<Policy>) => Promise<Policy> {
  const agent = useAgent()
  const confirmed = useConfirmedChange()
  return (change) => confirmed(change, () => agent(getPolicy, {}))
}
