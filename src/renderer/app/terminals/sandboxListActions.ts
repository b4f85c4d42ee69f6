import type { SandboxListActions } from '../../features/sandboxes/sandboxListActions.ts'
import { shellCommand } from '../../features/terminals/sessions/useTerminalActions.ts'
import { copyId } from '../../ui/copyId.ts'
import { notify } from '../../ui/toast.tsx'
import type { TerminalsScreenState } from './useTerminalsScreen.ts'

export function createSandboxListActions({
  selection,
  terminals,
  dialogs,
  lifecycle,
}: TerminalsScreenState): SandboxListActions {
  return {
    newTerminal(sandbox) {
      selection.open(sandbox)
      void terminals.tryOpen(sandbox, { command: shellCommand })
    },
    start: lifecycle.start,
    stop: dialogs.stopUnlessBusy,
    copyId: ({ id }) => void copyId(id, 'sandbox'),
    askToRename: (sandbox) => dialogs.open({ kind: 'rename', sandbox }),
    askToDelete: (sandbox) => dialogs.open({ kind: 'delete', sandbox }),
    run(sandbox, command) {
      terminals
        .open(sandbox, { command })
        .catch((error: unknown) => notify.failed(error, { title: 'Could not open a terminal' }))
    },
  }
}
