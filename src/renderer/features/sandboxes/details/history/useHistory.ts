import { useQuery } from '@tanstack/react-query'
import { useAgent } from '#renderer/api/AgentProvider.tsx'
import { listActivity, listCommands } from '#shared/contract/activity.ts'
import type { Sandbox } from '#shared/contract/sandboxes.ts'

/** Polling interval, because commands run through the API cause no events. */
const everyMs = 4_000

export function useCommandHistory({ id }: Sandbox, visible: boolean) {
  const agent = useAgent()
  return useQuery({
    queryKey: ['commands', id],
    queryFn: async ({ signal }) => (await agent(listCommands, { id, limit: 100 }, { signal })).commands,
    enabled: visible,
    refetchInterval: everyMs,
    staleTime: everyMs,
  })
}

export function useActivity({ id }: Sandbox, visible: boolean) {
  const agent = useAgent()
  return useQuery({
    queryKey: ['activity', id],
    queryFn: async ({ signal }) => (await agent(listActivity, { id, limit: 200 }, { signal })).activities,
    enabled: visible,
    refetchInterval: everyMs,
    staleTime: everyMs,
  })
}
