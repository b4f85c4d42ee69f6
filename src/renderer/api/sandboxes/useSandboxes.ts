import { useQuery } from '@tanstack/react-query'
import { listRuntimes, listSandboxes } from '#shared/contract/sandboxes.ts'
import { useAgent } from '../AgentProvider.tsx'
import type { SandboxList } from './sandboxList.ts'

export const sandboxesKey = ['sandboxes'] as const
/** Ports offered as the target of a domain. */
export const exposedPortsKey = ['exposed ports'] as const

export function useSandboxes() {
  const agent = useAgent()
  return useQuery<SandboxList>({
    queryKey: sandboxesKey,
    queryFn: async ({ signal }) => (await agent(listSandboxes, {}, { signal })).sandboxes,
  })
}

/** Refetches the runtimes on each mount, because the user may have just installed a missing program. */
export function useRuntimes() {
  const agent = useAgent()
  return useQuery({
    queryKey: ['runtimes'],
    queryFn: async ({ signal }) => (await agent(listRuntimes, {}, { signal })).runtimes,
    staleTime: 0,
  })
}
