import { Clapperboard, Download, Play, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { Button } from '#renderer/ui/Button.tsx'
import { ConfirmDialog } from '#renderer/ui/ConfirmDialog.tsx'
import { EmptyState } from '#renderer/ui/EmptyState.tsx'
import { ErrorNotice } from '#renderer/ui/ErrorNotice.tsx'
import { IconButton } from '#renderer/ui/IconButton.tsx'
import { PageColumn, PageScroll } from '#renderer/ui/PageFrame.tsx'
import { buildAddress, goTo } from '#renderer/ui/route.ts'
import { SkeletonRows } from '#renderer/ui/Skeleton.tsx'
import { formatSize } from '#renderer/ui/sizeText.ts'
import { TimeAgo } from '#renderer/ui/TimeAgo.tsx'
import type { Recording } from '#shared/contract/recordings.ts'
import { formatClockTime } from './castPlayback.ts'
import { save } from './RecordingView.tsx'
import { useDeleting, useRecordings } from './useRecordings.ts'

export function RecordingsView() {
  const { data, error, isPending, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = useRecordings()
  const deleting = useDeleting()
  const [confirmation, setConfirmation] = useState<Recording | 'all'>()
  if (isPending) {
    return (
      <PageColumn width="table" className="py-5">
        <SkeletonRows label="Loading recordings…" count={6} rowClassName="h-8" />
      </PageColumn>
    )
  }
  if (error && !data) {
    return (
      <PageColumn className="py-5">
        <ErrorNotice error={error} onRetry={() => void refetch()} />
      </PageColumn>
    )
  }
  const recordings = data.pages.flatMap((page) => page.recordings)
  const { total = 0, bytes = 0 } = data.pages[0] ?? {}
  if (recordings.length === 0) {
    return (
      <EmptyState
        icon={Clapperboard}
        title="No recordings"
        description="Steward records what terminals show only if you turn it on. It stays on this computer."
        actions={<Button onClick={() => goTo('settings', 'activity')}>Open settings</Button>}
      />
    )
  }
  const isAll = confirmation === 'all'
  return (
    <PageScroll width="table" className="flex flex-col gap-2 py-4">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <p className="text-muted">
          {total === 1 ? '1 recording' : `${total.toLocaleString('en')} recordings`}, {formatSize(bytes)}.{' '}
          <a href={buildAddress('settings', 'activity')} className="font-medium text-accent hover:underline">
            Settings
          </a>
        </p>
        <Button size="small" icon={Trash2} onClick={() => setConfirmation('all')}>
          Delete all
        </Button>
      </div>
      <ul aria-label="Recordings" className="-mx-2.5">
        {recordings.map((recording) => (
          <RecordingRow key={recording.id} recording={recording} onDelete={() => setConfirmation(recording)} />
        ))}
      </ul>
      {hasNextPage && (
        <Button busy={isFetchingNextPage} onClick={() => void fetchNextPage()} className="self-start">
          Show more
        </Button>
      )}
      <ConfirmDialog
        open={confirmation !== undefined}
        onOpenChange={(open) => !open && setConfirmation(undefined)}
        title={isAll ? 'Delete all recordings?' : 'Delete this recording?'}
        description="This cannot be undone. Running terminals stop being recorded."
        confirmLabel={isAll ? 'Delete all recordings' : 'Delete recording'}
        onConfirm={() => (confirmation === undefined || isAll ? deleting.all() : deleting.one(confirmation.id))}
      />
    </PageScroll>
  )
}

function RecordingRow({ recording, onDelete }: { recording: Recording; onDelete: () => void }) {
  const { id, sandbox_name: sandbox, command, started_at: startedAt, duration_ms: durationMs, bytes, state } = recording
  const notes = [
    state === 'running' && 'running',
    state === 'cut' && 'size limit reached',
    recording.missed && 'incomplete',
  ]
  return (
    <li className="flex items-center gap-2.5 rounded-control px-2.5 py-1 hover:bg-hover">
      <IconButton
        size="small"
        label={`Replay ${sandbox}, ${formatClockTime(durationMs)}`}
        icon={Play}
        onClick={() => goTo('activity', 'recordings', id)}
      />
      <a
        href={buildAddress('activity', 'recordings', id)}
        className="min-w-0 flex-1 truncate text-text hover:underline"
      >
        <span className="font-medium">{sandbox}</span>{' '}
        <span className="font-mono text-small text-muted">{command}</span>
      </a>
      <span className="shrink-0 text-small text-muted tabular-nums max-narrow:hidden">
        {[formatClockTime(durationMs), formatSize(bytes), ...notes.filter((it) => it !== false)].join(' · ')}
      </span>
      <span className="w-14 shrink-0 text-right">
        <TimeAgo at={startedAt} />
      </span>
      <IconButton
        size="small"
        label={`Save the recording of ${sandbox} as .cast`}
        icon={Download}
        onClick={() => save(id)}
      />
      <IconButton size="small" label={`Delete the recording of ${sandbox}`} icon={Trash2} onClick={onDelete} />
    </li>
  )
}
