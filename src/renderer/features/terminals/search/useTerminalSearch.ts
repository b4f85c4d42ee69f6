import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { useAgent } from '#renderer/api/AgentProvider.tsx'
import { searchTerminals } from '#shared/contract/terminalSearch.ts'

export type SearchAllQuery = { text: string; regex: boolean; caseSensitive: boolean }

/** Debounce while the user types, in milliseconds. */
const pauseMs = 150

/** Searches all terminals, debounced. */
export function useTerminalSearch(query: SearchAllQuery) {
  const agent = useAgent()
  const asked = useDebounced(query)
  return useQuery({
    queryKey: ['terminal-search', asked],
    queryFn: ({ signal }) =>
      agent(searchTerminals, { q: asked.text, regex: asked.regex, case_sensitive: asked.caseSensitive }, { signal }),
    enabled: asked.text !== '',
    placeholderData: keepPreviousData,
    retry: false,
    staleTime: 0,
    gcTime: 0,
  })
}

function useDebounced(query: SearchAllQuery): SearchAllQuery {
  const [settled, setSettled] = useState(query)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(query), pauseMs)
    return () => clearTimeout(timer)
  }, [query])
  return settled
}
