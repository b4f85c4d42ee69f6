import { ListTree, SearchX } from 'lucide-react'
import { useState } from 'react'
import { Button } from '#renderer/ui/Button.tsx'
import { EmptyState } from '#renderer/ui/EmptyState.tsx'
import { ErrorNotice } from '#renderer/ui/ErrorNotice.tsx'
import { PageColumn } from '#renderer/ui/PageFrame.tsx'
import { buildAddress, goTo } from '#renderer/ui/route.ts'
import { SkeletonRows } from '#renderer/ui/Skeleton.tsx'
import type { TaskId } from '#shared/contract/timelineLinks.ts'
import type { TimelineTask } from '#shared/contract/timelineTasks.ts'
import { EntryLinks } from '../EntryLinks.tsx'
import { toEntryLinks } from '../list/entryLinks.ts'
import { TimelineRowView } from '../list/TimelineRowView.tsx'
import { CostChips } from './CostChips.tsx'
import { formatEntryCount, formatTaskName } from './describeTask.ts'
import { useTask } from './useTask.ts'

export function TaskView({ task }: { task: TaskId }) {
  const { sums, pages, entries } = useTask(task)
  const [open, setOpen] = useState<ReadonlySet<number>>(new Set())
  const toggle = (sequence: number) => {
    const next = new Set(open)
    if (!next.delete(sequence)) next.add(sequence)
    setOpen(next)
  }
  if (pages.isPending) {
    return (
      <PageColumn width="table" className="py-5">
        <SkeletonRows label="Loading task…" count={6} rowClassName="h-6" />
      </PageColumn>
    )
  }
  if (pages.error && entries.length === 0) {
    return (
      <PageColumn className="py-5">
        <ErrorNotice error={pages.error} onRetry={() => void pages.refetch()} />
      </PageColumn>
    )
  }
  if (entries.length === 0) {
    return (
      <EmptyState
        icon={SearchX}
        title="No entries"
        description="Nothing was recorded, or the entries are past the retention period."
        actions={<Button onClick={() => goTo('activity')}>Show all activity</Button>}
      />
    )
  }
  return (
    <div className="size-full overflow-y-auto pb-6">
      <PageColumn width="table">
        {sums.data && <TaskHead sums={sums.data} />}
        <ol aria-label="Task, oldest first" className="-mx-2.5 border-t border-line pt-2">
          {entries.map((entry) => (
            <li key={entry.sequence}>
              <TimelineRowView
                row={{ key: String(entry.sequence), entries: [entry], isRequest: false }}
                isOpen={open.has(entry.sequence)}
                isTabStop
                isSought={false}
                inTask
                onToggle={() => toggle(entry.sequence)}
              />
            </li>
          ))}
        </ol>
        {pages.hasNextPage && (
          <Button busy={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()} className="mt-2">
            Show more
          </Button>
        )}
      </PageColumn>
    </div>
  )
}

function TaskHead({ sums }: { sums: TimelineTask }) {
  const time = new Date(sums.first_at).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' })
  return (
    <section aria-label="Task" className="flex flex-col gap-1.5 py-4">
      <h3 className="flex items-center gap-2 font-medium text-text">
        <ListTree aria-hidden className="size-4 text-faint" />
        {formatTaskName(sums.task)}
        <span className="font-normal text-muted">
          {time} · {formatEntryCount(sums.entries)}
        </span>
      </h3>
      <CostChips sums={sums} />
      <EntryLinks links={toEntryLinks(sums.links)}>
        <a href={buildAddress('activity')} className="font-medium text-accent hover:underline">
          Show all activity
        </a>
      </EntryLinks>
    </section>
  )
}
