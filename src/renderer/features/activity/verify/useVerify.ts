import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useAgent } from '#renderer/api/AgentProvider.tsx'
import { readAgain } from '#renderer/api/readAgain.ts'
import type { Output } from '#shared/contract/route.ts'
import { verifyTimeline } from '#shared/contract/timeline.ts'
import { timelineKey } from '../useTimeline.ts'

export type Verified = Output<typeof verifyTimeline>

/** Verifies the chain on request. Refetches the list if problems are found, so that it shows them too. */
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
