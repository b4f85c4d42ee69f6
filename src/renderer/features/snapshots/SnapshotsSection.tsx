import { Camera, Ellipsis, GitFork, History, Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { Sandbox } from '#shared/contract/sandboxes.ts'
import { maxSnapshots, type Snapshot } from '#shared/contract/snapshots.ts'
import { ErrorNotice } from '../../ui/ErrorNotice.tsx'
import { IconButton } from '../../ui/IconButton.tsx'
import { Menu } from '../../ui/Menu.tsx'
import { SkeletonRows } from '../../ui/Skeleton.tsx'
import { Section } from '../../ui/section/Section.tsx'
import { formatSize } from '../../ui/sizeText.ts'
import { TimeAgo } from '../../ui/TimeAgo.tsx'
import { notify } from '../../ui/toast.tsx'
import { type SnapshotDialog, SnapshotDialogs } from './SnapshotDialogs.tsx'
import { useSnapshotActions, useSnapshots } from './useSnapshots.ts'

type SnapshotsSectionProps = { sandbox: Sandbox; visible: boolean; onForked: (sandbox: Sandbox) => void }
type SnapshotsProps = Omit<SnapshotsSectionProps, 'onForked'> & { onAsk: (dialog: SnapshotDialog) => void }

export function SnapshotsSection({ sandbox, visible, onForked }: SnapshotsSectionProps) {
  const [dialog, setDialog] = useState<SnapshotDialog>()
  const actions = useSnapshotActions(sandbox)
  return (
    <Section
      id="snapshots"
      title="Snapshots"
      actions={
        <IconButton
          label="Take a snapshot"
          icon={Camera}
          size="small"
          disabled={sandbox.status === 'provisioning'}
          onClick={() => setDialog({ kind: 'take' })}
        />
      }
    >
      <Snapshots sandbox={sandbox} visible={visible} onAsk={setDialog} />
      {dialog && (
        <SnapshotDialogs
          dialog={dialog}
          sandbox={sandbox}
          actions={actions}
          onForked={(forked) => {
            onForked(forked)
            notify.done(`Created ${forked.name} from the snapshot`)
          }}
          onClose={() => setDialog(undefined)}
        />
      )}
    </Section>
  )
}

function Snapshots({ sandbox, visible, onAsk }: SnapshotsProps) {
  const { data, error, isPending, refetch } = useSnapshots(sandbox, visible)
  if (isPending) return <SkeletonRows label="Loading snapshots…" count={1} />
  if (error) return <ErrorNotice error={error} onRetry={() => void refetch()} />
  if (data.length === 0) {
    return <p className="text-muted">Save the files as they are now, to restore or fork later.</p>
  }
  return (
    <>
      <ul aria-label="Snapshots" className="-mx-1.5">
        {data.map((snapshot) => (
          <SnapshotRow key={snapshot.id} snapshot={snapshot} onAsk={onAsk} />
        ))}
      </ul>
      {data.length >= maxSnapshots && (
        <p className="text-small text-faint">At most {maxSnapshots} snapshots. Delete one before taking another.</p>
      )}
    </>
  )
}

function SnapshotRow({ snapshot, onAsk }: { snapshot: Snapshot; onAsk: (dialog: SnapshotDialog) => void }) {
  const { name, size_bytes, created_at } = snapshot
  return (
    <li className="group flex h-9 items-center gap-2 rounded-small pr-0.5 pl-1.5 hover:bg-hover">
      <Camera aria-hidden className="size-3.5 shrink-0 text-faint" />
      <span className="min-w-0 flex-1 leading-4">
        <span className="block truncate text-text" title={name}>
          {name}
        </span>
        <span className="flex gap-1.5 text-small text-faint">
          {formatSize(size_bytes)} <span aria-hidden>·</span> <TimeAgo at={created_at} />
        </span>
      </span>
      <Menu
        align="end"
        items={[
          { label: 'Restore…', icon: History, onSelect: () => onAsk({ kind: 'restore', snapshot }) },
          { label: 'Fork to a new sandbox…', icon: GitFork, onSelect: () => onAsk({ kind: 'fork', snapshot }) },
          'separator',
          { label: 'Delete…', icon: Trash2, tone: 'danger', onSelect: () => onAsk({ kind: 'delete', snapshot }) },
        ]}
      >
        <IconButton label={`Actions for snapshot ${name}`} icon={Ellipsis} size="small" />
      </Menu>
    </li>
  )
}
