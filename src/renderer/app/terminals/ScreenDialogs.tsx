import { useState } from 'react'
import type { Sandbox } from '#shared/contract/sandboxes.ts'
import { ImagesDialog } from '../../features/images/ImagesDialog.tsx'
import { useImages } from '../../features/images/useImages.ts'
import { CreateSandboxDialog } from '../../features/sandboxes/create/CreateSandboxDialog.tsx'
import { DeleteSandboxDialog } from '../../features/sandboxes/DeleteSandboxDialog.tsx'
import { useChangeSandbox } from '../../features/sandboxes/details/head/useChangeSandbox.ts'
import { usePortActions } from '../../features/sandboxes/details/ports/usePorts.ts'
import { SnapshotDialogs } from '../../features/snapshots/SnapshotDialogs.tsx'
import { useSnapshotActions } from '../../features/snapshots/useSnapshots.ts'
import { StopDialog } from '../../features/terminals/closing/StopDialog.tsx'
import { SearchAllDialog } from '../../features/terminals/search/SearchAllDialog.tsx'
import { RunCommandDialog } from '../../features/terminals/sessions/RunCommandDialog.tsx'
import { ConfirmDialog } from '../../ui/ConfirmDialog.tsx'
import { NameDialog } from '../../ui/NameDialog.tsx'
import type { PortRequest } from './useSandboxLinks.ts'
import type { TerminalsScreenState } from './useTerminalsScreen.ts'

export function ScreenDialogs({ screen }: { screen: TerminalsScreenState }) {
  const change = useChangeSandbox()
  const { dialog, closeDialog } = screen
  switch (dialog?.kind) {
    case 'create':
      return <CreateWithImages screen={screen} />
    case 'search':
      return (
        <SearchAllDialog
          sandboxes={screen.sandboxes ?? []}
          onOpen={screen.openMatch}
          onClose={() => {
            closeDialog()
            screen.focusTerminal()
          }}
        />
      )
    case 'images':
      return <ImagesDialog onClose={closeDialog} />
    case 'snapshot':
      return <TakeSnapshot sandbox={dialog.sandbox} onClose={closeDialog} />
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
          description="The host name changes at the next start."
          confirmLabel="Rename"
          initial={dialog.sandbox.name}
          onConfirm={(name) => change(dialog.sandbox, { name })}
          onClose={closeDialog}
        />
      )
    case 'expose':
      return <ExposeQuestion sandbox={dialog.sandbox} request={dialog.request} onClose={closeDialog} />
    case 'stop':
      return <StopDialog sandbox={dialog.sandbox} programs={dialog.programs} stop={screen.stop} onClose={closeDialog} />
    case 'delete':
      return <DeleteSandboxDialog sandbox={dialog.sandbox} remove={screen.remove} onClose={closeDialog} />
    default:
      return null
  }
}

/** Dialog for a link to a port without an address. */
function ExposeQuestion({
  sandbox,
  request: { port, path },
  onClose,
}: {
  sandbox: Sandbox
  request: PortRequest
  onClose: () => void
}) {
  const { expose, open } = usePortActions(sandbox)
  return (
    <ConfirmDialog
      open
      onOpenChange={onClose}
      tone="primary"
      title={`Expose port ${port} of ${sandbox.name}?`}
      description="The port gets a private address. Opening it needs your API key or a token you share."
      confirmLabel="Expose and open"
      onConfirm={async () => open(await expose({ port, visibility: 'private' }), path)}
    />
  )
}

/** Form values persist while the image list is shown. */
function CreateWithImages({ screen }: { screen: TerminalsScreenState }) {
  const { data: images = [] } = useImages()
  const [managing, setManaging] = useState(false)
  return (
    <>
      <CreateSandboxDialog
        images={images}
        create={screen.create}
        onCreated={screen.created}
        onManageImages={() => setManaging(true)}
        onClose={screen.closeDialog}
      />
      {managing && <ImagesDialog onClose={() => setManaging(false)} />}
    </>
  )
}

function TakeSnapshot({ sandbox, onClose }: { sandbox: Sandbox; onClose: () => void }) {
  const actions = useSnapshotActions(sandbox)
  return (
    <SnapshotDialogs
      dialog={{ kind: 'take' }}
      sandbox={sandbox}
      actions={actions}
      onForked={onClose}
      onClose={onClose}
    />
  )
}
