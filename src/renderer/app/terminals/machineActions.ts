import type { MachineActions } from '../../features/machines/machineActions.ts'
import { notify } from '../../ui/toast.tsx'
import type { TerminalsScreenState } from './useTerminalsScreen.ts'

/** Returns the actions of a sandbox's panels. */
export function machineActions({ sandboxActions, openTerminal }: TerminalsScreenState): MachineActions {
  return {
    ...sandboxActions,
    run(sandbox, command) {
      openTerminal(sandbox, { command }).catch((error: unknown) =>
        notify.failed(error, { title: 'Could not open a terminal' }),
      )
    },
  }
}
