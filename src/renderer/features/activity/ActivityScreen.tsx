import { ArrowUp, ScrollText, SearchX, ShieldCheck } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../../ui/Button.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { ErrorNotice } from '../../ui/ErrorNotice.tsx'
import { usePlace } from '../../ui/place.ts'
import { ScreenHeader } from '../../ui/ScreenHeader.tsx'
import { SkeletonRows } from '../../ui/Skeleton.tsx'
import { ExportMenu } from './ExportMenu.tsx'
import { TimelineFilterBar } from './filters/TimelineFilterBar.tsx'
import { isFiltered, noFilters, queryOf, type TimelineQuery } from './filters/timelineFilters.ts'
import { TimelineList } from './list/TimelineList.tsx'
import { useSettled } from './useSettled.ts'
import { useTimeline } from './useTimeline.ts'
import { useVerify } from './verify/useVerify.ts'
import { VerifyResult } from './verify/VerifyResult.tsx'

/** Entries above the one that is sought, so that it does not stand alone. */
const entriesAbove = 5

/** What happened on the person's side: searched, filtered, checked and exported. */
export function ActivityScreen() {
  const [, wanted = ''] = usePlace()
  const [filters, setFilters] = useState({ ...noFilters, search: wanted })
  const [sought, setSought] = useState<number>()
  const verify = useVerify()
  const search = useSettled(filters.search)
  const query = queryOf({ ...filters, search }, new Date())

  const change = (next: typeof filters) => {
    setFilters(next)
    setSought(undefined)
  }
  const show = (sequence: number) => {
    setFilters(noFilters)
    setSought(sequence)
  }

  return (
    <div className="flex h-full flex-col">
      <ScreenHeader
        title="Activity"
        words="A tamper-evident log. Verify checks every entry."
        actions={
          <>
            <Button icon={ShieldCheck} busy={verify.isPending} onClick={() => verify.mutate()}>
              Verify
            </Button>
            <ExportMenu query={query} />
          </>
        }
      >
        <TimelineFilterBar filters={filters} onChange={change} />
        {verify.error && <ErrorNotice error={verify.error} onRetry={() => verify.mutate()} />}
        {verify.data && <VerifyResult verified={verify.data} onShow={show} onClose={verify.reset} />}
      </ScreenHeader>
      {sought !== undefined && (
        <div className="flex items-center justify-between gap-3 border-b border-line bg-panel px-4 py-1.5">
          <p className="text-muted">Showing entry {sought} and the ones around it.</p>
          <Button size="small" icon={ArrowUp} onClick={() => setSought(undefined)}>
            Newest
          </Button>
        </div>
      )}
      <Timeline query={query} sought={sought} onClear={() => change(noFilters)} />
    </div>
  )
}

type TimelineProps = { query: TimelineQuery; sought: number | undefined; onClear: () => void }

function Timeline({ query, sought, onClear }: TimelineProps) {
  const start = sought === undefined ? undefined : sought + entriesAbove + 1
  const { entries, error, isPending, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = useTimeline(
    query,
    start,
  )
  if (isPending) {
    return (
      <div className="w-full max-w-300 px-4 py-5">
        <SkeletonRows label="Loading activity…" count={8} rowClassName="h-6" />
      </div>
    )
  }
  if (error && entries.length === 0) {
    return (
      <div className="w-full max-w-160 px-4 py-5">
        <ErrorNotice error={error} onRetry={() => void refetch()} />
      </div>
    )
  }
  if (entries.length === 0 && isFiltered(query)) {
    return (
      <EmptyState
        icon={SearchX}
        title="No matching activity"
        description="Try other words or filters."
        actions={<Button onClick={onClear}>Clear filters</Button>}
      />
    )
  }
  if (entries.length === 0) {
    return (
      <EmptyState
        icon={ScrollText}
        title="No activity yet"
        description="Everything you, your programs and Steward do appears here. Secrets never do."
      />
    )
  }
  return (
    <TimelineList
      key={`${JSON.stringify(query)} ${start}`}
      entries={entries}
      sought={sought}
      hasMore={hasNextPage && !isFetchingNextPage}
      onMore={() => void fetchNextPage()}
    />
  )
}
