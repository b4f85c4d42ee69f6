import { useQueryClient } from '@tanstack/react-query'
import type { Input } from '#shared/contract/route.ts'
import { createSandbox, deleteSandbox, type Sandbox, startSandbox, stopSandbox } from '#shared/contract/sandboxes.ts'
import { useAgent } from '../../api/AgentProvider.tsx'
import { patchFromEvent } from '../../api/eventPatch.ts'
import { readAgain } from '../../api/readAgain.ts'
import { removeSandbox, type SandboxList, withNewSandbox } from '../../api/sandboxes/sandboxList.ts'
import { sandboxesKey } from '../../api/sandboxes/useSandboxes.ts'
import { notify } from '../../ui/toast.tsx'

export type SandboxActions = {
  /** Rejects, so that the dialog can show the error. */
  create(input: Input<typeof createSandbox>): Promise<Sandbox>
  /** Starts a sandbox and reports errors. @returns undefined if it failed */
  start(sandbox: Sandbox): Promise<Sandbox | undefined>
  stop(sandbox: Sandbox): Promise<void>
  /** Rejects, so that the dialog can show the error. */
  remove(sandbox: Sandbox): Promise<void>
}

export function useSandboxActions(): SandboxActions {
  const agent = useAgent()
  const queryClient = useQueryClient()
  return {
    async create(input) {
      const created = await agent(createSandbox, input)
      patchFromEvent<SandboxList>(queryClient, sandboxesKey, (list) => withNewSandbox(list, created))
      return created
    },
    async start(sandbox) {
      try {
        const started = await agent(startSandbox, { id: sandbox.id })
        void readAgain(queryClient, sandboxesKey)
        return started
      } catch (error) {
        notify.failed(error, { title: `Could not start ${sandbox.name}` })
        return undefined
      }
    },
    async stop(sandbox) {
      try {
        await agent(stopSandbox, { id: sandbox.id })
        void readAgain(queryClient, sandboxesKey)
      } catch (error) {
        notify.failed(error, { title: `Could not stop ${sandbox.name}` })
      }
    },
    async remove(sandbox) {
      await agent(deleteSandbox, { id: sandbox.id })
      patchFromEvent<SandboxList>(queryClient, sandboxesKey, (list) => removeSandbox(list, sandbox.id))
    },
  }
}
