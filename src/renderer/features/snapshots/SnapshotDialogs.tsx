import type { Sandbox } from '../../../shared/contract/sandboxes.ts'
import type { Snapshot } from '../../../shared/contract/snapshots.ts'
import { ConfirmDialog } from '../../ui/ConfirmDialog.tsx'
import { NameDialog } from '../../ui/NameDialog.tsx'
import { notify } from '../../ui/toast.tsx'
import type { SnapshotActions } from './useSnapshots.ts'

export type SnapshotDialog = { kind: 'take' } | { kind: 'restore' | 'fork' | 'delete'; snapshot: Snapshot }

type SnapshotDialogsProps = {
  dialog: SnapshotDialog
  sandbox: Sandbox
  actions: SnapshotActions
  onForked: (sandbox: Sandbox) => void
  onClose: () => void
}

export function SnapshotDialogs({ dialog, sandbox, actions, onForked, onClose }: SnapshotDialogsProps) {
  if (dialog.kind === 'take') {
    return (
      <NameDialog
        title={`Snapshot of ${sandbox.name}`}
        description="Keeps its files as they are now. What runs in it is held still for that moment."
        confirmLabel="Take snapshot"
        placeholder="before the upgrade"
        hint="Left empty, it gets one."
        optional
        onConfirm={actions.take}
        onClose={onClose}
      />
    )
  }
  const { snapshot } = dialog
  const taken = new Date(snapshot.created_at).toLocaleString()
  if (dialog.kind === 'fork') {
    return (
      <NameDialog
        title={`New sandbox from “${snapshot.name}”`}
        description={`With the files that ${sandbox.name} had on ${taken}, and its limits. ${sandbox.name} stays as it is.`}
        confirmLabel="Create sandbox"
        placeholder={`${sandbox.name}-2`}
        hint="Left empty, it gets one."
        optional
        onConfirm={async (name) => onForked(await actions.fork(snapshot, name))}
        onClose={onClose}
      />
    )
  }
  const restores = dialog.kind === 'restore'
  return (
    <ConfirmDialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={restores ? `Restore “${snapshot.name}”?` : `Delete “${snapshot.name}”?`}
      description={
        restores ? restoreText(sandbox, taken) : `Nobody can go back to it then. ${sandbox.name} stays as it is.`
      }
      confirmLabel={restores ? 'Restore' : 'Delete snapshot'}
      onConfirm={async () => {
        if (!restores) return actions.remove(snapshot)
        await actions.restore(snapshot)
        notify.done(`${sandbox.name} has the files of “${snapshot.name}” again.`)
      }}
    />
  )
}

function restoreText({ name, status }: Sandbox, taken: string): string {
  const lost = `All files of ${name} become as they were on ${taken}: what was changed since is lost.`
  return status === 'running'
    ? `${lost} It is started anew, so its terminals and everything that runs in it end.`
    : lost
}
