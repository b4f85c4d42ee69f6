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
import type { SandboxLifecycle } from './sandboxLifecycle.ts'
import type { PortRequest } from './useSandboxLinks.ts'
import type { TerminalsScreenState } from './useTerminalsScreen.ts'

export function ScreenDialogs({ screen }: { screen: TerminalsScreenState }) {
  const { sandboxes = [], selection, terminals, dialogs, focus, lifecycle } = screen
  const change = useChangeSandbox()
  const dialog = dialogs.current
  switch (dialog?.kind) {
    case 'create':
      return <CreateWithImages lifecycle={lifecycle} onClose={dialogs.close} />
    case 'search':
      return (
        <SearchAllDialog
          sandboxes={sandboxes}
          onOpen={(match) => {
            dialogs.close()
            selection.openMatch(match)
          }}
          onClose={() => {
            dialogs.close()
            focus.request()
          }}
        />
      )
    case 'images':
      return <ImagesDialog onClose={dialogs.close} />
    case 'snapshot':
      return <TakeSnapshot sandbox={dialog.sandbox} onClose={dialogs.close} />
    case 'run':
      return (
        <RunCommandDialog
          sandboxName={dialog.sandbox.name}
          run={(terminal) => terminals.open(dialog.sandbox, terminal)}
          onClose={dialogs.close}
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
          onClose={dialogs.close}
        />
      )
    case 'expose':
      return <ExposeQuestion sandbox={dialog.sandbox} request={dialog.request} onClose={dialogs.close} />
    case 'stop':
      return (
        <StopDialog sandbox={dialog.sandbox} programs={dialog.programs} stop={lifecycle.stop} onClose={dialogs.close} />
      )
    case 'delete':
      return <DeleteSandboxDialog sandbox={dialog.sandbox} remove={lifecycle.remove} onClose={dialogs.close} />
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
function CreateWithImages({ lifecycle, onClose }: { lifecycle: SandboxLifecycle; onClose: () => void }) {
  const { data: images = [] } = useImages()
  const [managing, setManaging] = useState(false)
  return (
    <>
      <CreateSandboxDialog
        images={images}
        create={lifecycle.create}
        onCreated={lifecycle.showCreated}
        onManageImages={() => setManaging(true)}
        onClose={onClose}
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
