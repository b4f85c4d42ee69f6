import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { listTransactions } from '../../../../shared/contract/credits.ts'
import { useAgent } from '../../../agent/AgentProvider.tsx'
import { creditsKey } from '../useCredits.ts'
import type { HistoryQuery } from './historyFilters.ts'

const pageSize = 50

/** The history in pages, newest first. What comes meanwhile moves the pages: no entry is shown twice. */
export function useHistory(query: HistoryQuery) {
  const agent = useAgent()
  const pages = useInfiniteQuery({
    queryKey: [...creditsKey, 'history', query],
    queryFn: ({ pageParam: offset, signal }) =>
      agent(listTransactions, { ...query, offset, limit: pageSize }, { signal }),
    initialPageParam: 0,
    getNextPageParam: ({ offset, total }) => (offset + pageSize < total ? offset + pageSize : undefined),
    placeholderData: keepPreviousData,
    staleTime: 0,
  })
  const all = pages.data?.pages.flatMap(({ transactions }) => transactions) ?? []
  const transactions = [...new Map(all.map((it) => [it.id, it])).values()]
  return { ...pages, transactions, total: pages.data?.pages.at(-1)?.total ?? 0 }
}
