import { ArrowUp, Download, FileJson, ScrollText, SearchX, Sheet, ShieldCheck, X } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { buildRequest } from '#shared/contract/route.ts'
import { exportTimeline } from '#shared/contract/timeline.ts'
import { signWindowUrl } from '../../api/windowLink.ts'
import { AddressText } from '../../ui/AddressText.tsx'
import { Button } from '../../ui/Button.tsx'
import { joinClassNames } from '../../ui/classNames.ts'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { ErrorNotice } from '../../ui/ErrorNotice.tsx'
import { Menu, type MenuItem } from '../../ui/Menu.tsx'
import { PageColumn, PageFrame } from '../../ui/PageFrame.tsx'
import { buildAddress, goTo } from '../../ui/route.ts'
import { SkeletonRows } from '../../ui/Skeleton.tsx'
import { Tooltip } from '../../ui/Tooltip.tsx'
import { useAddressFilters } from '../../ui/useAddressFilters.ts'
import { useDebounced } from '../../ui/useDebounced.ts'
import { type ActivityPlace, linkNames, useActivityPlace } from './activityPlace.ts'
import { EntryLinks } from './EntryLinks.tsx'
import { TimelineFilterBar } from './filters/TimelineFilterBar.tsx'
import {
  isFiltered,
  noFilters,
  TimelineFilters,
  type TimelineQuery,
  toTimelineQuery,
} from './filters/timelineFilters.ts'
import { toEntryLinks } from './list/entryLinks.ts'
import { TimelineList } from './list/TimelineList.tsx'
import { RecordingsView } from './recordings/RecordingsView.tsx'
import { RecordingView } from './recordings/RecordingView.tsx'
import { TasksView } from './task/TasksView.tsx'
import { TaskView } from './task/TaskView.tsx'
import { useTimeline } from './useTimeline.ts'
import { useVerify } from './verify/useVerify.ts'
import { VerifyResult } from './verify/VerifyResult.tsx'

type ExportFormat = 'jsonl' | 'csv'

const activityTabs = [
  { title: 'Timeline', place: ['activity'] },
  { title: 'Tasks', place: ['activity', 'tasks'] },
  { title: 'Recordings', place: ['activity', 'recordings'] },
] as const

/** Entries shown above the requested one, for context. */
const entriesAbove = 5

export function ActivityScreen() {
  const present = useActivityPlace()
  const [{ place, key }, setView] = useState(present)
  // Ignores an address of another section, which may arrive before this screen unmounts.
  if (present.isHere && present.key !== key) setView(present)
  if (place.kind === 'tasks') return <PlainScreen tab="Tasks" content={<TasksView />} />
  if (place.kind !== 'recordings') return <Activity key={key} place={place} />
  const { id } = place
  return (
    <PlainScreen
      tab="Recordings"
      content={id === undefined ? <RecordingsView /> : <RecordingView key={id} id={id} />}
    />
  )
}

function PlainScreen({ tab, content }: { tab: 'Tasks' | 'Recordings'; content: ReactNode }) {
  return (
    <PageFrame
      title="Activity"
      bar={
        <div className="border-b border-line py-2">
          <PageColumn width="table">
            <ActivityTabs present={tab} />
          </PageColumn>
        </div>
      }
    >
      {content}
    </PageFrame>
  )
}

function Activity({ place }: { place: Exclude<ActivityPlace, { kind: 'recordings' | 'tasks' }> }) {
  const [filters, setFilters] = useAddressFilters(TimelineFilters, {
    ...noFilters,
    search: place.kind === 'all' ? place.search : '',
  })
  const [sought, setSought] = useState<number>()
  const verify = useVerify()
  const search = useDebounced(filters.search)
  const about = place.kind === 'link' ? { link: `${place.to}:${place.id}` } : {}
  const query: TimelineQuery = { ...toTimelineQuery({ ...filters, search }, new Date()), ...about }
  const exported = place.kind === 'task' ? { task: place.task } : query

  const change = (next: typeof filters) => {
    setFilters(next)
    setSought(undefined)
  }
  const show = (sequence: number) => {
    setFilters(noFilters)
    setSought(sequence)
  }

  return (
    <PageFrame
      title="Activity"
      actions={
        <>
          <Tooltip content="Checks every entry of this tamper-evident log">
            <Button size="small" icon={ShieldCheck} busy={verify.isPending} onClick={() => verify.mutate()}>
              Verify
            </Button>
          </Tooltip>
          <ExportMenu query={exported} />
        </>
      }
      bar={
        <div className="border-b border-line py-2">
          <PageColumn width="table" className="flex flex-col gap-3">
            <ActivityTabs present={place.kind === 'task' ? 'Tasks' : 'Timeline'} />
            {place.kind !== 'task' && <TimelineFilterBar filters={filters} onChange={change} />}
            {place.kind === 'link' && <AboutBar place={place} />}
            {verify.error && <ErrorNotice error={verify.error} onRetry={() => verify.mutate()} />}
            {verify.data && <VerifyResult verified={verify.data} onShow={show} onClose={verify.reset} />}
            {sought !== undefined && (
              <div className="flex items-center justify-between gap-3">
                <p className="text-muted">Showing entry {sought} and nearby entries.</p>
                <Button size="small" icon={ArrowUp} onClick={() => setSought(undefined)}>
                  Newest
                </Button>
              </div>
            )}
          </PageColumn>
        </div>
      }
    >
      {place.kind === 'task' ? (
        <TaskView task={place.task} />
      ) : (
        <Timeline query={query} sought={sought} onClear={() => change(noFilters)} />
      )}
    </PageFrame>
  )
}

/** Shown while the list is restricted to entries linked to one subject. */
function AboutBar({ place: { to, id } }: { place: Extract<ActivityPlace, { kind: 'link' }> }) {
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
      <p className="flex min-w-0 items-center gap-1.5 text-muted">
        Only entries for this {linkNames[to]}: <AddressText text={id} label="Copy ID" />
      </p>
      <EntryLinks links={toEntryLinks({ [to]: id })} />
      <Button size="small" icon={X} onClick={() => goTo('activity')}>
        Show all activity
      </Button>
    </div>
  )
}

type TimelineProps = { query: TimelineQuery; sought: number | undefined; onClear: () => void }

function Timeline({ query, sought, onClear }: TimelineProps) {
  const start = sought === undefined ? undefined : sought + entriesAbove + 1
  const { entries, requestStates, error, isPending, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } =
    useTimeline(query, start)
  if (isPending) {
    return (
      <PageColumn width="table" className="py-5">
        <SkeletonRows label="Loading activity…" count={8} rowClassName="h-6" />
      </PageColumn>
    )
  }
  if (error && entries.length === 0) {
    return (
      <PageColumn className="py-5">
        <ErrorNotice error={error} onRetry={() => void refetch()} />
      </PageColumn>
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
        description="Everything you, your programs and Steward do appears here. Secrets are never recorded."
      />
    )
  }
  return (
    <TimelineList
      key={`${JSON.stringify(query)} ${start}`}
      entries={entries}
      requestStates={requestStates}
      sought={sought}
      hasMore={hasNextPage && !isFetchingNextPage}
      onMore={() => void fetchNextPage()}
    />
  )
}

function ActivityTabs({ present }: { present: (typeof activityTabs)[number]['title'] }) {
  return (
    <nav aria-label="Activity" className="flex gap-1">
      {activityTabs.map(({ title, place }) => (
        <a
          key={title}
          href={buildAddress(...place)}
          aria-current={title === present ? 'page' : undefined}
          className={joinClassNames(
            'flex h-7 items-center rounded-control px-2.5',
            title === present ? 'bg-selected text-text' : 'text-muted hover:bg-hover hover:text-text',
          )}
        >
          {title}
        </a>
      ))}
    </nav>
  )
}

/** Menu that exports the whole log or the filtered entries. */
function ExportMenu({ query }: { query: TimelineQuery }) {
  const items: MenuItem[] = [
    { label: 'All, JSON Lines with hashes', icon: FileJson, onSelect: () => download({}, 'jsonl') },
    { label: 'All, CSV', icon: Sheet, onSelect: () => download({}, 'csv') },
    ...(isFiltered(query)
      ? ([
          'separator',
          { label: 'Filtered, JSON Lines', icon: FileJson, onSelect: () => download(query, 'jsonl') },
          { label: 'Filtered, CSV', icon: Sheet, onSelect: () => download(query, 'csv') },
        ] as const)
      : []),
  ]
  return (
    <Menu items={items} align="end">
      <Button size="small" icon={Download}>
        Export
      </Button>
    </Menu>
  )
}

function download(query: TimelineQuery, format: ExportFormat): void {
  const link = document.createElement('a')
  link.href = signWindowUrl(buildRequest(exportTimeline, { ...query, format }).path)
  link.download = `steward-activity.${format}`
  link.click()
}
