import type { ListenAddress } from '#platform/listenAddress.ts'
import { AppError } from '#shared/appError.ts'
import { mostPropagated, type PropagatedRecords, type PropagationServer } from '#shared/contract/localDomains.ts'
import type { DnsRecordData } from '#shared/dns/dnsRecord.ts'
import type { DomainCache } from '../domainCache.ts'
import type { DomainQuestions } from '../domainQuestions.ts'
import { askDns, DnsFault } from './dnsQuestion.ts'
import { type DnsServer, dnsServers } from './dnsServers.ts'
import { foundValue, mostValues, zoneValue } from './foundValue.ts'

/** How far the records of a zone have spread: what each DNS server answers beside what it should. */
export type Propagation = {
  servers(domain: string): Promise<PropagationServer[]>
  /** @throws AppError `request/not-found` for a server that is not one of them */
  check(
    domain: string,
    serverId: string,
    signal: AbortSignal,
  ): Promise<{ server: PropagationServer; records: PropagatedRecords[]; left_out: number }>
}

/** Questions to one server that are under way at once. */
const mostAtOnce = 8

export function propagation(options: {
  cache: Pick<DomainCache, 'kept' | 'fresh'>
  questions: Pick<DomainQuestions, 'domain' | 'zone' | 'prices'>
  resolvers: readonly string[]
  /** The service runs on this computer: where it says that DNS is answered is true. */
  isOwnService: boolean
}): Propagation {
  const { cache, questions, resolvers, isOwnService } = options
  const serversOf = async (domain: string): Promise<DnsServer[]> => {
    const { nameservers } = await cache.kept(questions.domain(domain))
    const own = isOwnService ? await cache.fresh(questions.prices()) : undefined
    const isServed = nameservers.every((it) => own?.nameservers?.includes(it))
    return dnsServers({ nameservers, resolvers, testServer: (isServed && own?.dns_server) || undefined })
  }
  return {
    servers: async (domain) => (await serversOf(domain)).map(shown),
    async check(domain, serverId, signal) {
      const server = (await serversOf(domain)).find(({ id }) => id === serverId)
      if (!server) throw new AppError('request/not-found', `No DNS server ${serverId} is asked for ${domain}.`)
      const { records } = await cache.kept(questions.zone(domain, { fresh: false }))
      const sets = recordSets(records.map((record) => ({ ...record, distance: record.distance ?? null })))
      const asked = sets.slice(0, mostPropagated)
      return {
        server: shown(server),
        records: await compared({ domain, server, sets: asked, signal }),
        left_out: sets.length - asked.length,
      }
    },
  }
}

type RecordSet = Pick<PropagatedRecords, 'type' | 'host' | 'wanted'>

/** Records of one name and type belong together: a server answers with all of them. */
function recordSets(records: readonly DnsRecordData[]): RecordSet[] {
  const sets = Map.groupBy(records, ({ type, host }) => `${type} ${host}`)
  return [...sets.values()].flatMap((members) => {
    const [first] = members
    return first ? [{ type: first.type, host: first.host, wanted: members.map(zoneValue).sort() }] : []
  })
}

type Work = { domain: string; server: DnsServer; sets: readonly RecordSet[]; signal: AbortSignal }

async function compared({ domain, server, sets, signal }: Work): Promise<PropagatedRecords[]> {
  let address: ListenAddress
  try {
    address = await server.address(signal)
  } catch (failure) {
    const detail = faultText(failure)
    return sets.map((it) => ({ ...it, state: 'failed', found: [], ttl: null, detail }))
  }
  const results: PropagatedRecords[] = []
  // One that does not answer the first question is not asked the others: they would all wait.
  let silent: string | undefined
  let next = 0
  const ask = async (): Promise<void> => {
    for (let at = next++; at < sets.length; at = next++) {
      const set = sets[at]
      if (!set) return
      results[at] =
        silent === undefined
          ? await comparedSet({ domain, set, address, signal })
          : { ...set, state: 'failed', found: [], ttl: null, detail: silent }
      if (results[at]?.state === 'failed') silent = results[at]?.detail ?? undefined
    }
  }
  await Promise.all(Array.from({ length: mostAtOnce }, ask))
  return results
}

type Asked = { domain: string; set: RecordSet; address: ListenAddress; signal: AbortSignal }

async function comparedSet({ domain, set, address, signal }: Asked): Promise<PropagatedRecords> {
  const name = set.host === '@' ? domain : `${set.host}.${domain}`
  try {
    const { rcode, reason, answers } = await askDns(address, { name, type: set.type }, signal)
    if (rcode === 'refused') {
      return { ...set, state: 'failed', found: [], ttl: null, detail: `It answered ${reason}.` }
    }
    const found = answers
      .flatMap((it) => foundValue(domain, it) ?? [])
      .filter(({ type }) => type === set.type)
      .slice(0, mostValues)
    const values = [...new Set(found.map(({ value }) => value))].sort()
    const isSame = values.length === set.wanted.length && values.every((it, at) => it === set.wanted[at])
    return {
      ...{ ...set, found: values, detail: null },
      state: values.length === 0 ? 'missing' : isSame ? 'same' : 'other',
      ttl: found.length === 0 ? null : Math.min(...found.map(({ ttl }) => ttl)),
    }
  } catch (failure) {
    return { ...set, state: 'failed', found: [], ttl: null, detail: faultText(failure) }
  }
}

/** @throws what is no fault of a server */
function faultText(failure: unknown): string {
  if (failure instanceof DnsFault) return failure.message
  throw failure
}

function shown({ id, name, kind }: DnsServer): PropagationServer {
  return { id, name, kind }
}
