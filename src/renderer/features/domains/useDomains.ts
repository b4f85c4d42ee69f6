import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import {
  getLocalDomain,
  listLocalDomains,
  listLocalPrices,
  listLocalRecords,
  searchLocalDomains,
} from '#shared/contract/localDomains.ts'
import { useAgent } from '../../api/AgentProvider.tsx'
import { useLiveEvent } from '../../api/liveEvents.ts'
import { readAgain } from '../../api/readAgain.ts'

export const domainsKey = ['domains'] as const
const cachedKey = [...domainsKey, 'kept'] as const
const searchKey = [...domainsKey, 'search'] as const

/** Debounce for bursts of events after a service restart, in milliseconds. */
const coalesceMs = 300

/** Refetches domains after related events, debounced, and search results after a purchase. */
export function useDomainEvents(): void {
  const queryClient = useQueryClient()
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  useLiveEvent(({ type }) => {
    if (['ready', 'domains.changed', 'local-domains.changed', 'connection.changed'].includes(type)) {
      timer.current ??= setTimeout(() => {
        timer.current = undefined
        void readAgain(queryClient, cachedKey)
      }, coalesceMs)
    }
    // Purchased domains are no longer available.
    if (type === 'domains.changed') void readAgain(queryClient, searchKey)
  })
}

export function useDomainList() {
  const agent = useAgent()
  return useQuery({
    queryKey: [...cachedKey, 'list'],
    queryFn: ({ signal }) => agent(listLocalDomains, {}, { signal }),
    staleTime: 0,
  })
}

export function useDomain(domain: string) {
  const agent = useAgent()
  return useQuery({
    queryKey: [...cachedKey, 'domain', domain],
    queryFn: ({ signal }) => agent(getLocalDomain, { domain }, { signal }),
    staleTime: 0,
  })
}

export function useRecords(domain: string) {
  const agent = useAgent()
  return useQuery({
    queryKey: [...cachedKey, 'records', domain],
    queryFn: ({ signal }) => agent(listLocalRecords, { domain }, { signal }),
    staleTime: 0,
  })
}

export function usePrices() {
  const agent = useAgent()
  return useQuery({
    queryKey: [...cachedKey, 'pricing'],
    queryFn: ({ signal }) => agent(listLocalPrices, {}, { signal }),
  })
}

/** @param tlds part of the searched TLDs; each part is shown as soon as its results arrive */
export function useSearchResults(q: string, tlds: string) {
  const agent = useAgent()
  return useQuery({
    queryKey: [...searchKey, q, tlds],
    queryFn: ({ signal }) => agent(searchLocalDomains, { q, tlds }, { signal }),
    enabled: q !== '',
    placeholderData: keepPreviousData,
    retry: false,
  })
}
