import { useQueryClient } from '@tanstack/react-query'
import { useAgent } from '#renderer/api/AgentProvider.tsx'
import { policyKey, usePolicy } from '#renderer/api/usePolicy.ts'
import { useConfirmedPolicy } from '#renderer/ui/useConfirmedPolicy.ts'
import { type Policy, switchStop } from '#shared/contract/intents.ts'

/** Stop switch for signing, payments, tools, models and chats. */
export function useStopSwitch() {
  const agent = useAgent()
  const queryClient = useQueryClient()
  const { data } = usePolicy()
  const confirmed = useConfirmedPolicy()
  const keep = (policy: Policy): void => {
    queryClient.setQueryData<Policy>(policyKey, policy)
  }
  return {
    isStopped: data?.stopped ?? false,
    /** Rejects with the error for the dialog to display. */
    stop: async () => keep(await agent(switchStop, { stopped: true })),
    resume: async () => keep(await confirmed(() => agent(switchStop, { stopped: false }))),
  }
}
