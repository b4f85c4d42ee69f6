import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useAgent } from '#renderer/api/AgentProvider.tsx'
import { listTimeline, type TimelineEntry } from '#shared/contract/timeline.ts'
import type { TaskId } from '#shared/contract/timelineLinks.ts'
import { listTasks, readTask } from '#shared/contract/timelineTasks.ts'
import { timelineKey } from '../useTimeline.ts'

const pageSize = 200

export const tasksKey = [...timelineKey, 'tasks'] as const

/** Reads a task's cost and its entries, oldest first. */
export function useTask(task: TaskId) {
  const agent = useAgent()
  const key = [...tasksKey, task] as const
  const sums = useQuery({
    queryKey: [...key, 'sums'],
    queryFn: ({ signal }) => agent(readTask, { task }, { signal }),
    retry: false,
    staleTime: 0,
  })
  const pages = useInfiniteQuery({
    queryKey: [...key, 'entries'],
    queryFn: ({ pageParam: after, signal }) =>
      agent(listTimeline, { task, after, order: 'oldest', limit: pageSize }, { signal }),
    initialPageParam: 0,
    staleTime: 0,
    getNextPageParam: ({ has_more: more, entries }) => (more ? entries.at(-1)?.sequence : undefined),
  })
  return { sums, pages, entries: sortEntries(pages.data?.pages.flatMap(({ entries }) => entries) ?? []) }
}

/** Sorts by time, because entries of the service reach the log slightly later than those of the agent. */
function sortEntries(entries: readonly TimelineEntry[]): TimelineEntry[] {
  return entries.toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at) || a.sequence - b.sequence)
}

const tasksPage = 50

/** Reads the tasks of chats and programs, newest first. */
export function useTasks() {
  const agent = useAgent()
  return useInfiniteQuery({
    queryKey: [...tasksKey, 'list'],
    queryFn: ({ pageParam: before, signal }) => agent(listTasks, { before, limit: tasksPage }, { signal }),
    initialPageParam: undefined as number | undefined,
    staleTime: 0,
    getNextPageParam: ({ has_more: more, tasks }) => (more ? tasks.at(-1)?.last_sequence : undefined),
  })
}
