import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useAgent } from '#renderer/api/AgentProvider.tsx'
import { readAgain } from '#renderer/api/readAgain.ts'
import {
  adoptFoundSandbox,
  deleteFoundSandbox,
  type FoundSandbox,
  listFoundSandboxes,
} from '#shared/contract/foundSandboxes.ts'

export const foundSandboxesKey = ['found-sandboxes'] as const

export type FoundSandboxes = {
  sandboxes: readonly FoundSandbox[]
  /** Rejects with the error of the request. */
  keep(sandbox: FoundSandbox): Promise<void>
  remove(sandbox: FoundSandbox): Promise<void>
}

/** Reads sandboxes with files on disk but without a database row. Empty for accounts other than the owner's. */
export function useFoundSandboxes(): FoundSandboxes {
  const agent = useAgent()
  const queryClient = useQueryClient()
  const { data = [] } = useQuery({
    queryKey: foundSandboxesKey,
    queryFn: async ({ signal }) => (await agent(listFoundSandboxes, {}, { signal })).sandboxes,
    retry: false,
  })
  const settle = async (change: Promise<unknown>): Promise<void> => {
    try {
      await change
    } finally {
      await readAgain(queryClient, foundSandboxesKey)
    }
  }
  return {
    sandboxes: data,
    keep: ({ id }) => settle(agent(adoptFoundSandbox, { id })),
    remove: ({ id }) => settle(agent(deleteFoundSandbox, { id })),
  }
}
