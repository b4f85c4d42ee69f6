import { ArrowLeft, Download } from 'lucide-react'
import { Button } from '#renderer/ui/Button.tsx'
import { ErrorNotice } from '#renderer/ui/ErrorNotice.tsx'
import { PageScroll } from '#renderer/ui/PageFrame.tsx'
import { buildAddress, goTo } from '#renderer/ui/route.ts'
import { SkeletonRows } from '#renderer/ui/Skeleton.tsx'
import { Player } from './Player.tsx'
import { buildCastAddress, useCast } from './useRecordings.ts'

export function RecordingView({ id }: { id: string }) {
  const { data: cast, error, isPending, refetch } = useCast(id)
  return (
    <PageScroll width="table" className="flex flex-col gap-3 py-4">
      <div className="flex flex-wrap items-center gap-2">
        <Button size="small" icon={ArrowLeft} onClick={() => goTo('activity', 'recordings')}>
          Recordings
        </Button>
        <span className="flex-1" />
        <a
          href={buildAddress('activity', 'recording', id)}
          className="text-small font-medium text-accent hover:underline"
        >
          Show in Activity
        </a>
        <Button size="small" icon={Download} onClick={() => save(id)}>
          Save as .cast
        </Button>
      </div>
      {isPending ? (
        <SkeletonRows label="Loading recording…" count={8} rowClassName="h-5" />
      ) : error ? (
        <ErrorNotice error={error} onRetry={() => void refetch()} />
      ) : (
        <Player cast={cast} label="Recording" />
      )}
    </PageScroll>
  )
}

export function save(id: string): void {
  const link = document.createElement('a')
  link.href = buildCastAddress(id)
  link.download = `steward-${id}.cast`
  link.click()
}
