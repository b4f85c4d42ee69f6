import type { z } from 'zod'
import { listDnsRecords } from '#shared/contract/dnsRecords.ts'
import { listDomainPrices, type searchDomains as SearchRoute, searchDomains } from '#shared/contract/domainSearch.ts'
import { getDomain, listDomains } from '#shared/contract/domains.ts'
import type { ServiceClient } from '../connections/serviceClient.ts'
import type { ServiceQuery } from './domainCache.ts'

type Client = Pick<ServiceClient, 'call'>
type Search = z.output<(typeof SearchRoute)['query']>

export function createDomainQueries(client: Client) {
  return {
    list: (): ServiceQuery<z.output<typeof listDomains.response>> => ({
      ...{ kind: 'list', key: '', schema: listDomains.response },
      fetch: (signal) => client.call(listDomains, {}, { signal }),
    }),
    domain: (domain: string): ServiceQuery<z.output<typeof getDomain.response>> => ({
      ...{ kind: 'domain', key: domain, schema: getDomain.response },
      fetch: (signal) => client.call(getDomain, { domain }, { signal }),
    }),
    zone: (domain: string, { fresh }: { fresh: boolean }): ServiceQuery<z.output<typeof listDnsRecords.response>> => ({
      ...{ kind: 'zone', key: domain, schema: listDnsRecords.response },
      fetch: (signal) => client.call(listDnsRecords, { domain, fresh }, { signal }),
    }),
    prices: (): ServiceQuery<z.output<typeof listDomainPrices.response>> => ({
      ...{ kind: 'pricing', key: '', schema: listDomainPrices.response },
      fetch: (signal) => client.call(listDomainPrices, {}, { signal }),
    }),
    search: ({ q, query, tlds, suggestions }: Search): ServiceQuery<z.output<typeof searchDomains.response>> => ({
      kind: 'search',
      key: JSON.stringify([(q ?? query ?? '').toLowerCase(), tlds ?? null, suggestions]),
      schema: searchDomains.response,
      fetch: (signal) =>
        client.call(searchDomains, { q: q ?? query, suggestions, ...(tlds && { tlds: tlds.join(',') }) }, { signal }),
    }),
  }
}
export type DomainQueries = ReturnType<typeof createDomainQueries>
