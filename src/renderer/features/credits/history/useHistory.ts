import { keepPreviousData, queryOptions, useQueries, useQuery } from '@tanstack/react-query'
import { useAgent } from '#renderer/api/AgentProvider.tsx'
import type { ApiClient } from '#renderer/api/agentClient.ts'
import { listTransactions } from '#shared/contract/credits.ts'
import { creditsKey } from '../useCredits.ts'
import type { HistoryQuery } from './historyFilters.ts'
import { type HistoryPage, indexRows } from './historyRows.ts'

const pageSize = 50

/** Reads the newest page, which includes the total. */
export function useNewestHistory(query: HistoryQuery) {
  return useQuery({ ...fetchPage(useAgent(), query, 0), placeholderData: keepPreviousData })
}

type RowRange = { query: HistoryQuery; newest: HistoryPage; first: number; last: number }

/** Reads the pages that contain the rows from `first` to `last`. Only these are refetched when credits change. */
export function useHistoryRows({ query, newest, first, last }: RowRange) {
  const agent = useAgent()
  const from = Math.max(1, Math.floor(first / pageSize))
  const count = Math.max(0, Math.floor(last / pageSize) + 1 - from)
  const pages = useQueries({
    queries: Array.from({ length: count }, (_, index) => fetchPage(agent, query, from + index)),
  })
  const failed = pages.filter(({ error, data }) => error !== null && data === undefined)
  return {
    rows: indexRows([newest, ...pages.flatMap(({ data }) => data ?? [])], newest.total),
    error: failed[0]?.error,
    retry: () => void Promise.all(failed.map(({ refetch }) => refetch())),
  }
}

function fetchPage(agent: ApiClient, query: HistoryQuery, page: number) {
  return queryOptions({
    queryKey: [...creditsKey, 'history', query, page],
    queryFn: ({ signal }) =>
      agent(listTransactions, { ...query, offset: page * pageSize, limit: pageSize }, { signal }),
    staleTime: 0,
  })
}
