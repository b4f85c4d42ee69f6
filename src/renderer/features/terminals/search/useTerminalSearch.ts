import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useAgent } from '#renderer/api/AgentProvider.tsx'
import { useDebounced } from '#renderer/ui/useDebounced.ts'
import { searchTerminals } from '#shared/contract/terminalSearch.ts'

export type SearchAllQuery = { text: string; regex: boolean; caseSensitive: boolean }

/** Debounce while the user types, in milliseconds. */
const pauseMs = 150

/** Searches all terminals, debounced. */
export function useTerminalSearch(query: SearchAllQuery) {
  const agent = useAgent()
  const debounced = useDebounced(query, pauseMs)
  return useQuery({
    queryKey: ['terminal-search', debounced],
    queryFn: ({ signal }) =>
      agent(
        searchTerminals,
        { q: debounced.text, regex: debounced.regex, case_sensitive: debounced.caseSensitive },
        { signal },
      ),
    enabled: debounced.text !== '',
    placeholderData: keepPreviousData,
    retry: false,
    staleTime: 0,
    gcTime: 0,
  })
}
