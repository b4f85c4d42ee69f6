import { keepPreviousData, useQuery } from '@tanstack/react-query'
import {
  getLocalDomain,
  listLocalDomains,
  listLocalPrices,
  listLocalRecords,
  searchLocalDomains,
} from '#shared/contract/localDomains.ts'
import { useAgent } from '../../api/AgentProvider.tsx'

export const domainsKey = ['domains'] as const
export const cachedDomainsKey = [...domainsKey, 'kept'] as const
export const domainSearchKey = [...domainsKey, 'search'] as const

export function useDomainList() {
  const agent = useAgent()
  return useQuery({
    queryKey: [...cachedDomainsKey, 'list'],
    queryFn: ({ signal }) => agent(listLocalDomains, {}, { signal }),
    staleTime: 0,
  })
}

export function useDomain(domain: string) {
  const agent = useAgent()
  return useQuery({
    queryKey: [...cachedDomainsKey, 'domain', domain],
    queryFn: ({ signal }) => agent(getLocalDomain, { domain }, { signal }),
    staleTime: 0,
  })
}

export function useRecords(domain: string) {
  const agent = useAgent()
  return useQuery({
    queryKey: [...cachedDomainsKey, 'records', domain],
    queryFn: ({ signal }) => agent(listLocalRecords, { domain }, { signal }),
    staleTime: 0,
  })
}

export function usePrices() {
  const agent = useAgent()
  return useQuery({
    queryKey: [...cachedDomainsKey, 'pricing'],
    queryFn: ({ signal }) => agent(listLocalPrices, {}, { signal }),
  })
}

/** @param tlds part of the searched TLDs; each part is shown as soon as its results arrive */
export function useSearchResults(q: string, tlds: string) {
  const agent = useAgent()
  return useQuery({
    queryKey: [...domainSearchKey, q, tlds],
    queryFn: ({ signal }) => agent(searchLocalDomains, { q, tlds }, { signal }),
    enabled: q !== '',
    placeholderData: keepPreviousData,
    retry: false,
  })
}
