import type { ListenAddress } from '#platform/net/listenAddress.ts'
import { AppError } from '#shared/appError.ts'
import { maxPropagated, type PropagatedRecords, type PropagationServer } from '#shared/contract/localDomains.ts'
import type { DnsRecordData } from '#shared/dns/dnsRecord.ts'
import type { DomainCache } from '../domainCache.ts'
import type { DomainQueries } from '../domainQueries.ts'
import { DnsError, queryDns } from './dnsClient.ts'
import { createDnsServers, type DnsServer } from './dnsServers.ts'
import { maxValues, normalizeDnsValue, toZoneValue } from './normalizeDnsValue.ts'

/** Propagation of a zone: compares the response of each DNS server with the expected records. */
export type Propagation = {
  servers(domain: string): Promise<PropagationServer[]>
  /** @throws AppError `request/not-found` for an unlisted server */
  check(
    domain: string,
    serverId: string,
    signal: AbortSignal,
  ): Promise<{ server: PropagationServer; records: PropagatedRecords[]; left_out: number }>
}

/** Maximum number of concurrent queries to one server. */
const maxConcurrentQueries = 8

export function createPropagation(options: {
  cache: Pick<DomainCache, 'getCached' | 'fresh'>
  queries: Pick<DomainQueries, 'domain' | 'zone' | 'prices'>
  resolvers: readonly string[]
  /** Whether the service runs on this computer, so that its DNS server address can be trusted. */
  isOwnService: boolean
}): Propagation {
  const { cache, queries, resolvers, isOwnService } = options
  const listServers = async (domain: string): Promise<DnsServer[]> => {
    const { nameservers } = await cache.getCached(queries.domain(domain))
    const prices = isOwnService ? await cache.fresh(queries.prices()) : undefined
    const usesOwnNameservers = nameservers.every((it) => prices?.nameservers?.includes(it))
    return createDnsServers({
      nameservers,
      resolvers,
      testServer: (usesOwnNameservers && prices?.dns_server) || undefined,
    })
  }
  return {
    servers: async (domain) => (await listServers(domain)).map(serverToWire),
    async check(domain, serverId, signal) {
      const server = (await listServers(domain)).find(({ id }) => id === serverId)
      if (!server) throw new AppError('request/not-found', `Unknown DNS server ${serverId} for ${domain}.`)
      const { records } = await cache.getCached(queries.zone(domain, { fresh: false }))
      const sets = groupRecordSets(records.map((record) => ({ ...record, distance: record.distance ?? null })))
      const checkedSets = sets.slice(0, maxPropagated)
      return {
        server: serverToWire(server),
        records: await compareServer({ domain, server, sets: checkedSets, signal }),
        left_out: sets.length - checkedSets.length,
      }
    },
  }
}

type RecordSet = Pick<PropagatedRecords, 'type' | 'host' | 'wanted'>

/** Groups records by name and type, because a server returns all of them in one response. */
function groupRecordSets(records: readonly DnsRecordData[]): RecordSet[] {
  const sets = Map.groupBy(records, ({ type, host }) => `${type} ${host}`)
  return [...sets.values()].flatMap((members) => {
    const [first] = members
    return first ? [{ type: first.type, host: first.host, wanted: members.map(toZoneValue).sort() }] : []
  })
}

type Work = { domain: string; server: DnsServer; sets: readonly RecordSet[]; signal: AbortSignal }

async function compareServer({ domain, server, sets, signal }: Work): Promise<PropagatedRecords[]> {
  let address: ListenAddress
  try {
    address = await server.address(signal)
  } catch (error) {
    const detail = formatDnsError(error)
    return sets.map((it) => ({ ...it, state: 'failed', found: [], ttl: null, detail }))
  }
  const results: PropagatedRecords[] = []
  // Server that did not respond to the first query. Its remaining queries are skipped.
  let silent: string | undefined
  let next = 0
  const queryNext = async (): Promise<void> => {
    for (let index = next++; index < sets.length; index = next++) {
      const set = sets[index]
      if (!set) return
      results[index] =
        silent === undefined
          ? await compareSet({ domain, set, address, signal })
          : { ...set, state: 'failed', found: [], ttl: null, detail: silent }
      if (results[index]?.state === 'failed') silent = results[index]?.detail ?? undefined
    }
  }
  await Promise.all(Array.from({ length: maxConcurrentQueries }, queryNext))
  return results
}

type ComparisonOptions = { domain: string; set: RecordSet; address: ListenAddress; signal: AbortSignal }

async function compareSet({ domain, set, address, signal }: ComparisonOptions): Promise<PropagatedRecords> {
  const name = set.host === '@' ? domain : `${set.host}.${domain}`
  try {
    const { rcode, reason, answers } = await queryDns(address, { name, type: set.type }, signal)
    if (rcode === 'refused') {
      return { ...set, state: 'failed', found: [], ttl: null, detail: `The server responded with ${reason}.` }
    }
    const actual = answers
      .flatMap((it) => normalizeDnsValue(domain, it) ?? [])
      .filter(({ type }) => type === set.type)
      .slice(0, maxValues)
    const values = [...new Set(actual.map(({ value }) => value))].sort()
    const isSame = values.length === set.wanted.length && values.every((it, at) => it === set.wanted[at])
    return {
      ...{ ...set, found: values, detail: null },
      state: values.length === 0 ? 'missing' : isSame ? 'same' : 'other',
      ttl: actual.length === 0 ? null : Math.min(...actual.map(({ ttl }) => ttl)),
    }
  } catch (error) {
    return { ...set, state: 'failed', found: [], ttl: null, detail: formatDnsError(error) }
  }
}

/** @throws the error if the DNS server did not cause it */
function formatDnsError(error: unknown): string {
  if (error instanceof DnsError) return error.message
  throw error
}

function serverToWire({ id, name, kind }: DnsServer): PropagationServer {
  return { id, name, kind }
}
