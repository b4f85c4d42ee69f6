import { useQueryClient } from '@tanstack/react-query'
import { useAgent } from '#renderer/api/AgentProvider.tsx'
import { patchFromEvent } from '#renderer/api/eventPatch.ts'
import { type SandboxList, withSandbox } from '#renderer/api/sandboxes/sandboxList.ts'
import { sandboxesKey } from '#renderer/api/sandboxes/useSandboxes.ts'
import type { Input } from '#shared/contract/route.ts'
import { changeSandbox, type Sandbox } from '#shared/contract/sandboxes.ts'

export type SandboxChange = Omit<Input<typeof changeSandbox>, 'id'>

/** Returns a function that changes a sandbox. Rejects if the change failed. */
export function useChangeSandbox(): (sandbox: Sandbox, change: SandboxChange) => Promise<void> {
  const agent = useAgent()
  const queryClient = useQueryClient()
  return async ({ id }, change) => {
    const changed = await agent(changeSandbox, { id, ...change })
    patchFromEvent<SandboxList>(queryClient, sandboxesKey, (list) => withSandbox(list, changed))
  }
}
