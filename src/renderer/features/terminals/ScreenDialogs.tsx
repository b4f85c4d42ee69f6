import { useChangeSandbox } from './details/head/useChangeSandbox.ts'
import { CreateSandboxDialog } from './sandboxes/CreateSandboxDialog.tsx'
import { DeleteSandboxDialog } from './sandboxes/DeleteSandboxDialog.tsx'
import { NameDialog } from './sandboxes/NameDialog.tsx'
import { RunCommandDialog } from './sessions/RunCommandDialog.tsx'
import type { TerminalsScreenState } from './useTerminalsScreen.ts'

/** The one dialog that is open, if any. */
export function ScreenDialogs({ screen }: { screen: TerminalsScreenState }) {
  const change = useChangeSandbox()
  const { dialog, closeDialog } = screen
  switch (dialog?.kind) {
    case 'create':
      return <CreateSandboxDialog create={screen.create} onCreated={screen.created} onClose={closeDialog} />
    case 'run':
      return (
        <RunCommandDialog
          sandboxName={dialog.sandbox.name}
          run={(terminal) => screen.openTerminal(dialog.sandbox, terminal)}
          onClose={closeDialog}
        />
      )
    case 'rename':
      return (
        <NameDialog
          title={`Rename ${dialog.sandbox.name}`}
          description="Its host name follows when it is started the next time."
          confirmLabel="Rename"
          initial={dialog.sandbox.name}
          onConfirm={(name) => change(dialog.sandbox, { name })}
          onClose={closeDialog}
        />
      )
    case 'delete':
      return <DeleteSandboxDialog sandbox={dialog.sandbox} remove={screen.remove} onClose={closeDialog} />
    default:
      return null
  }
}
