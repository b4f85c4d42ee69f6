import { useQueryClient } from '@tanstack/react-query'
import { type Policy, switchStop } from '../../../../shared/contract/intents.ts'
import { useAgent } from '../../../agent/AgentProvider.tsx'
import { policyKey, usePolicy } from '../../../agent/usePolicy.ts'
import { notify } from '../../../ui/toast.tsx'
import { useUnlocked } from '../../../ui/useUnlocked.ts'

/** One switch for everything the wallet signs. */
export function useStopSwitch() {
  const agent = useAgent()
  const queryClient = useQueryClient()
  const { data } = usePolicy()
  const unlocked = useUnlocked()
  const set = async (stopped: boolean): Promise<void> => {
    queryClient.setQueryData<Policy>(policyKey, await agent(switchStop, { stopped }))
  }
  return {
    isStopped: data?.stopped ?? false,
    /** At once, without a question. */
    stop: () =>
      void set(true).catch((error: unknown) => notify.failed(error, { title: 'It was not stopped: try again.' })),
    resume: () => unlocked(() => set(false)),
  }
}
