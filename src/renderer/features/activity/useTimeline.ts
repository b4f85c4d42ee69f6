import { keepPreviousData, useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import type { Output } from '#shared/contract/route.ts'
import { listTimeline, type TimelineEntry } from '#shared/contract/timeline.ts'
import { sortByTime } from '#shared/timeOrder.ts'
import { useAgent } from '../../api/AgentProvider.tsx'
import { useLiveEvent } from '../../api/liveEvents.ts'
import { readAgain } from '../../api/readAgain.ts'
import type { TimelineQuery } from './filters/timelineFilters.ts'
import type { RequestStates } from './list/timelineItems.ts'

const pageSize = 100
/** Debounce for bursts of events, in milliseconds. */
const debounceMs = 150

export const timelineKey = ['timeline'] as const

/**
 * Reads the log in pages from `start`, or from its newest entry. New entries are read separately, so that the view does
 * not move.
 */
export function useTimeline(query: TimelineQuery, start: number | undefined) {
  const agent = useAgent()
  const queryClient = useQueryClient()
  const pagesKey = [...timelineKey, 'pages', query, start ?? 'newest'] as const
  const newestKey = [...timelineKey, 'newest', query] as const
  const pages = useInfiniteQuery({
    queryKey: pagesKey,
    queryFn: ({ pageParam: before, signal }) => agent(listTimeline, { ...query, before, limit: pageSize }, { signal }),
    initialPageParam: start,
    getNextPageParam: ({ has_more: more, entries }) => (more ? entries.at(-1)?.sequence : undefined),
    placeholderData: keepPreviousData,
    staleTime: 0,
  })
  const newest = useQuery({
    queryKey: newestKey,
    queryFn: ({ signal }) => agent(listTimeline, { ...query, limit: pageSize }, { signal }),
    enabled: false, // provided by the pages; refetched only for newer entries
  })

  const readNewest = async (): Promise<void> => {
    await queryClient.cancelQueries({ queryKey: newestKey })
    const { data } = await newest.refetch()
    const latest = queryClient.getQueryData<typeof pages.data>(pagesKey)?.pages[0]?.entries[0]?.sequence ?? 0
    // More entries arrived than fit on one page. Refetches the pages to close the gap.
    if (start === undefined && data?.has_more && listSequences(data).every((it) => it > latest)) {
      await readAgain(queryClient, pagesKey)
    }
  }
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  useLiveEvent(({ type }) => {
    if (type !== 'timeline.appended' && type !== 'ready') return
    timer.current ??= setTimeout(() => {
      timer.current = undefined
      void readNewest()
    }, debounceMs)
  })

  const read = pages.data?.pages.flatMap(({ entries }) => entries) ?? []
  const requestStates = Object.assign(
    {},
    ...(pages.data?.pages ?? []).toReversed().map((page) => page.request_states),
    newest.data?.request_states,
  ) as RequestStates
  const entries = start === undefined ? withNewer(read, newest.data?.entries ?? []) : read
  return { ...pages, requestStates, entries: [...sortByTime(entries, 'newest')] }
}

/** Prepends newer entries. Sorted newest first. */
function withNewer(read: readonly TimelineEntry[], newest: readonly TimelineEntry[]): TimelineEntry[] {
  const latest = read[0]?.sequence ?? 0
  return [...newest.filter(({ sequence }) => sequence > latest), ...read]
}

function listSequences({ entries }: Output<typeof listTimeline>): number[] {
  return entries.map(({ sequence }) => sequence)
}
