import type { SandboxListActions } from '../../features/sandboxes/sandboxListActions.ts'
import { notify } from '../../ui/toast.tsx'
import type { TerminalsScreenState } from './useTerminalsScreen.ts'

export function createSandboxListActions({ sandboxActions, openTerminal }: TerminalsScreenState): SandboxListActions {
  return {
    ...sandboxActions,
    run(sandbox, command) {
      openTerminal(sandbox, { command }).catch((error: unknown) =>
        notify.failed(error, { title: 'Could not open a terminal' }),
      )
    },
  }
}
