import { Bot, ListTree, MessageSquare } from 'lucide-react'
import { Button } from '#renderer/ui/Button.tsx'
import { EmptyState } from '#renderer/ui/EmptyState.tsx'
import { ErrorNotice } from '#renderer/ui/ErrorNotice.tsx'
import { PageColumn, PageScroll } from '#renderer/ui/PageFrame.tsx'
import { buildAddress } from '#renderer/ui/route.ts'
import { SkeletonRows } from '#renderer/ui/Skeleton.tsx'
import { TimeAgo } from '#renderer/ui/TimeAgo.tsx'
import type { TimelineTask } from '#shared/contract/timelineTasks.ts'
import { CostChips } from './CostChips.tsx'
import { formatEntryCount } from './describeTask.ts'
import { useTasks } from './useTask.ts'

export function TasksView() {
  const { data, error, isPending, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = useTasks()
  if (isPending) {
    return (
      <PageColumn width="table" className="py-5">
        <SkeletonRows label="Loading tasks…" count={6} rowClassName="h-8" />
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
  const tasks = data.pages.flatMap((page) => page.tasks)
  if (tasks.length === 0) {
    return (
      <EmptyState
        icon={ListTree}
        title="No tasks yet"
        description="A task groups a message or call with everything it caused."
      />
    )
  }
  return (
    <PageScroll width="table" className="flex flex-col gap-2 py-4">
      <ol aria-label="Tasks, newest first" className="-mx-2.5">
        {tasks.map((task) => (
          <TaskRow key={task.task} task={task} />
        ))}
      </ol>
      {hasNextPage && (
        <Button busy={isFetchingNextPage} onClick={() => void fetchNextPage()} className="self-start">
          Show more
        </Button>
      )}
    </PageScroll>
  )
}

function TaskRow({ task }: { task: TimelineTask }) {
  const Icon = task.task.startsWith('chat:') ? MessageSquare : Bot
  return (
    <li className="flex items-start gap-2.5 rounded-control px-2.5 py-1.5 hover:bg-hover">
      <Icon aria-hidden className="mt-0.5 size-4 shrink-0 text-faint" />
      <div className="min-w-0 flex-1">
        <a href={buildAddress('activity', 'task', task.task)} className="block truncate font-medium hover:underline">
          {task.title}
        </a>
        <p className="truncate text-muted">
          {[task.actor.name, formatEntryCount(task.entries), task.entries > 1 && task.outcome]
            .filter(Boolean)
            .join(' · ')}
        </p>
      </div>
      <div className="shrink-0 max-narrow:hidden">
        <CostChips sums={task} />
      </div>
      <span className="w-14 shrink-0 text-right">
        <TimeAgo at={task.last_at} />
      </span>
    </li>
  )
}
