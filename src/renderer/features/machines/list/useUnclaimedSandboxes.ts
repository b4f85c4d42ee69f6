import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useAgent } from '#renderer/api/AgentProvider.tsx'
import { useLiveEvent } from '#renderer/api/liveEvents.ts'
import { readAgain } from '#renderer/api/readAgain.ts'
import {
  adoptFoundSandbox,
  deleteFoundSandbox,
  type FoundSandbox,
  listFoundSandboxes,
} from '#shared/contract/foundSandboxes.ts'

const unclaimedKey = ['found-sandboxes'] as const

export type UnclaimedSandboxes = {
  unclaimed: readonly FoundSandbox[]
  /** Rejects with the reason. */
  keep(sandbox: FoundSandbox): Promise<void>
  /** Rejects with the reason. */
  remove(sandbox: FoundSandbox): Promise<void>
}

/** Returns sandboxes with files on disk but no row in the database; none for accounts other than the owner's. */
export function useUnclaimedSandboxes(): UnclaimedSandboxes {
  const agent = useAgent()
  const queryClient = useQueryClient()
  useLiveEvent((event) => {
    if (event.type === 'ready') void readAgain(queryClient, unclaimedKey)
  })
  const { data = [] } = useQuery({
    queryKey: unclaimedKey,
    queryFn: async ({ signal }) => (await agent(listFoundSandboxes, {}, { signal })).sandboxes,
    retry: false,
  })
  const settle = async (change: Promise<unknown>): Promise<void> => {
    try {
      await change
    } finally {
      await readAgain(queryClient, unclaimedKey)
    }
  }
  return {
    unclaimed: data,
    keep: ({ id }) => settle(agent(adoptFoundSandbox, { id })),
    remove: ({ id }) => settle(agent(deleteFoundSandbox, { id })),
  }
}
