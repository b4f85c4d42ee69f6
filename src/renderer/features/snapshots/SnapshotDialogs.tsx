import type { Sandbox } from '#shared/contract/sandboxes.ts'
import type { Snapshot } from '#shared/contract/snapshots.ts'
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
        description="Saves all files. Programs pause for a moment."
        confirmLabel="Take snapshot"
        placeholder="before the upgrade"
        hint="Leave empty for a generated name."
        optional
        onConfirm={actions.take}
        onClose={onClose}
      />
    )
  }
  const { snapshot } = dialog
  const createdAt = new Date(snapshot.created_at).toLocaleString()
  if (dialog.kind === 'fork') {
    return (
      <NameDialog
        title={`New sandbox from “${snapshot.name}”`}
        description={`Starts with the files of ${sandbox.name} from ${createdAt} and the same limits. ${sandbox.name} does not change.`}
        confirmLabel="Create sandbox"
        placeholder={`${sandbox.name}-2`}
        hint="Leave empty for a generated name."
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
        restores ? restoreText(sandbox, createdAt) : `You can no longer restore it. ${sandbox.name} does not change.`
      }
      confirmLabel={restores ? 'Restore' : 'Delete snapshot'}
      onConfirm={async () => {
        if (!restores) return actions.remove(snapshot)
        await actions.restore(snapshot)
        notify.done(`Restored “${snapshot.name}” to ${sandbox.name}`)
      }}
    />
  )
}

function restoreText({ name, status }: Sandbox, createdAt: string): string {
  const lost = `Files in ${name} go back to ${createdAt}. Later changes are lost.`
  return status === 'running' ? `${lost} The sandbox restarts, which ends all terminals and programs.` : lost
}
