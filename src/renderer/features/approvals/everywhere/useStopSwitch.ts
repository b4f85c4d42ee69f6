import { useQueryClient } from '@tanstack/react-query'
import { type Policy, switchStop } from '../../../../shared/contract/intents.ts'
import { useAgent } from '../../../agent/AgentProvider.tsx'
import { policyKey, usePolicy } from '../../../agent/usePolicy.ts'
import { notify } from '../../../ui/toast.tsx'
import { useConfirmedPolicy } from '../../../ui/useConfirmedPolicy.ts'

/** One switch for everything the wallet signs. */
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
    /** At once, without confirmation. */
    stop: () =>
      void agent(switchStop, { stopped: true })
        .then(keep)
        .catch((error: unknown) => notify.failed(error, { title: 'Could not stop signing. Try again.' })),
    resume: async () => keep(await confirmed(() => agent(switchStop, { stopped: false }))),
  }
}
