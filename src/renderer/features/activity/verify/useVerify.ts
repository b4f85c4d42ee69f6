import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useAgent } from '#renderer/api/AgentProvider.tsx'
import { readAgain } from '#renderer/api/readAgain.ts'
import type { Output } from '#shared/contract/route.ts'
import { verifyTimeline } from '#shared/contract/timeline.ts'
import { timelineKey } from '../useTimeline.ts'

export type Verified = Output<typeof verifyTimeline>

/** Asked for by a person; when something is wrong, the list is read again, so that it shows it too. */
export function useVerify() {
  const agent = useAgent()
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: () => agent(verifyTimeline, {}),
    onSuccess: async ({ ok }) => {
      if (!ok) await readAgain(queryClient, timelineKey)
    },
  })
}
