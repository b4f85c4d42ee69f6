import type { Sandbox } from '#shared/contract/sandboxes.ts'
import type { SandboxActions } from '../../features/sandboxes/useSandboxActions.ts'
import { notify } from '../../ui/toast.tsx'
import type { SandboxSelection } from './useSandboxSelection.ts'
import type { ScreenDialogs } from './useScreenDialogs.ts'
import type { ScreenTerminals } from './useScreenTerminals.ts'

/** Actions that create, start, stop and remove sandboxes and update the screen accordingly. */
export type SandboxLifecycle = Pick<SandboxActions, 'create' | 'stop' | 'remove'> & {
  /** Starts a sandbox, then opens its first terminal. */
  start(sandbox: Sandbox): void
  /** Shows a new sandbox and opens its first terminal. */
  showCreated(sandbox: Sandbox): void
}

type SandboxLifecycleOptions = {
  actions: SandboxActions
  selection: SandboxSelection
  terminals: ScreenTerminals
  dialogs: ScreenDialogs
}

export function createSandboxLifecycle(options: SandboxLifecycleOptions): SandboxLifecycle {
  const { actions, selection, terminals, dialogs } = options
  const start = async (sandbox: Sandbox) => {
    const started = await actions.start(sandbox)
    if (started) terminals.openFirst(started)
  }
  return {
    create: actions.create,
    start: (sandbox) => void start(sandbox),
    stop: actions.stop,
    async remove(sandbox) {
      await actions.remove(sandbox)
      selection.removeSandbox(sandbox)
      notify.done(`Deleted ${sandbox.name}`)
    },
    showCreated(sandbox) {
      dialogs.close()
      selection.open(sandbox)
      terminals.openFirst(sandbox)
    },
  }
}
