import type { QueryClient } from '@tanstack/react-query'
import type { LocalEventOf } from '#shared/contract/localApi.ts'
import { patchFromEvent } from './eventPatch.ts'
import { readAgain } from './readAgain.ts'
import { removeSandbox, type SandboxList, withSandbox } from './sandboxes/sandboxList.ts'
import { sandboxesKey } from './sandboxes/useSandboxes.ts'
import { removeTerminal, type TerminalList, withTerminal } from './terminals/terminalList.ts'
import { terminalsKey } from './terminals/useTerminals.ts'

export function patchChangedSandbox(queryClient: QueryClient, { sandbox }: LocalEventOf<'sandbox.changed'>): void {
  const prev = queryClient.getQueryData<SandboxList>(sandboxesKey)?.find(({ id }) => id === sandbox.id)
  patchFromEvent<SandboxList>(queryClient, sandboxesKey, (list) => withSandbox(list, sandbox))
  // Terminals end with their sandbox, possibly without a separate event.
  if (prev?.status === 'running' && sandbox.status !== 'running') {
    void readAgain(queryClient, terminalsKey(sandbox.id))
  }
}

export function patchRemovedSandbox(queryClient: QueryClient, { id }: LocalEventOf<'sandbox.removed'>): void {
  patchFromEvent<SandboxList>(queryClient, sandboxesKey, (list) => removeSandbox(list, id))
}

export function patchChangedTerminal(queryClient: QueryClient, { terminal }: LocalEventOf<'terminal.changed'>): void {
  patchFromEvent<TerminalList>(queryClient, terminalsKey(terminal.sandbox_id), (list) => withTerminal(list, terminal))
}

export function patchRemovedTerminal(queryClient: QueryClient, event: LocalEventOf<'terminal.removed'>): void {
  patchFromEvent<TerminalList>(queryClient, terminalsKey(event.sandbox_id), (list) =>
    removeTerminal(list, event.session_id),
  )
}
