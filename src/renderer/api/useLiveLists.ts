import { useQueryClient } from '@tanstack/react-query'
import type { LocalEvent } from '#shared/contract/localApi.ts'
import type { Sandbox } from '#shared/contract/sandboxes.ts'
import { patchFromEvent } from './eventPatch.ts'
import { useLiveEvent } from './liveEvents.ts'
import { readAgain } from './readAgain.ts'
import { removeSandbox, type SandboxList, withSandbox } from './sandboxes/sandboxList.ts'
import { sandboxesKey } from './sandboxes/useSandboxes.ts'
import { removeTerminal, type TerminalList, withTerminal } from './terminals/terminalList.ts'
import { allTerminalsKey, terminalsKey } from './terminals/useTerminals.ts'

/** Updates the cached lists of sandboxes and terminals from events. */
export function useLiveLists(): void {
  const queryClient = useQueryClient()

  function sandboxChanged(sandbox: Sandbox): void {
    const before = queryClient.getQueryData<SandboxList>(sandboxesKey)?.find(({ id }) => id === sandbox.id)
    patchFromEvent<SandboxList>(queryClient, sandboxesKey, (list) => withSandbox(list, sandbox))
    // Terminals end with their sandbox, possibly without a separate event.
    if (before?.status === 'running' && sandbox.status !== 'running') {
      void readAgain(queryClient, terminalsKey(sandbox.id))
    }
  }

  function follow(event: LocalEvent): void {
    switch (event.type) {
      case 'ready':
        void readAgain(queryClient, sandboxesKey)
        void readAgain(queryClient, allTerminalsKey)
        break
      case 'sandbox.changed':
        sandboxChanged(event.sandbox)
        break
      case 'sandbox.removed':
        patchFromEvent<SandboxList>(queryClient, sandboxesKey, (list) => removeSandbox(list, event.id))
        break
      case 'terminal.changed':
        patchFromEvent<TerminalList>(queryClient, terminalsKey(event.terminal.sandbox_id), (list) =>
          withTerminal(list, event.terminal),
        )
        break
      case 'terminal.removed':
        patchFromEvent<TerminalList>(queryClient, terminalsKey(event.sandbox_id), (list) =>
          removeTerminal(list, event.session_id),
        )
    }
  }

  useLiveEvent(follow)
}
