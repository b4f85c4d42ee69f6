import { useQuery } from '@tanstack/react-query'
import { listTerminals } from '#shared/contract/terminals.ts'
import type { SandboxId } from '#shared/ids.ts'
import { useAgent } from '../AgentProvider.tsx'
import { sortTerminals, type TerminalList } from './terminalList.ts'

export const terminalsKey = (sandboxId: SandboxId) => ['terminals', sandboxId] as const
export const allTerminalsKey = ['terminals'] as const

/** Reads running terminals and those that exited within the last hour. */
export function useTerminals(sandboxId: SandboxId) {
  const agent = useAgent()
  return useQuery<TerminalList>({
    queryKey: terminalsKey(sandboxId),
    queryFn: async ({ signal }) =>
      sortTerminals((await agent(listTerminals, { id: sandboxId, all: true }, { signal })).sessions),
  })
}
