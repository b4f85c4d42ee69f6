import type { Answer } from 'dns-packet'
import { splitText } from '#shared/dns/characterStrings.ts'
import type { DnsRecordData } from '#shared/dns/dnsRecord.ts'

/** Zone that the server is authoritative for. Names are ASCII, lower case and without a trailing dot. */
export type Zone = {
  name: string
  /** Increases with every change. */
  serial: number
  nameservers: readonly string[]
  records: readonly DnsRecordData[]
}

/** Returns the zone that contains a name. */
export type ZoneLookup = (name: string) => Promise<Zone | undefined>

export type ZoneAnswer = {
  rcode: 'NOERROR' | 'NXDOMAIN' | 'REFUSED'
  /** Whether the zone is authoritative for the name. False for delegated names. */
  authoritative: boolean
  answers: Answer[]
  authorities: Answer[]
  additionals: Answer[]
}

/** TTL of negative responses, in seconds. */
const negativeTtl = 300
const nameserverTtl = 3_600
/** Maximum number of names in a CNAME chain. */
const maxChain = 8

/**
 * Answers a question as an authoritative server does (RFC 1034, wildcards by RFC 4592).
 * @param question the response repeats its name with unchanged case
 */
export async function resolveZone(question: { name: string; type: string }, zoneOf: ZoneLookup): Promise<ZoneAnswer> {
  const answer: ZoneAnswer = { rcode: 'NOERROR', authoritative: true, answers: [], authorities: [], additionals: [] }
  let name = question.name
  for (let step = 0; step < maxChain; step += 1) {
    const zone = await zoneOf(name.toLowerCase())
    if (!zone) return step === 0 ? { ...answer, rcode: 'REFUSED', authoritative: false } : answer
    const next = answerFromZone(zone, { name, type: question.type }, answer)
    if (next === undefined) return answer
    name = next
  }
  return answer
}

/** Adds the records of one zone to the response. @returns the target of a CNAME, at which the resolution continues */
function answerFromZone(
  zone: Zone,
  { name, type }: { name: string; type: string },
  answer: ZoneAnswer,
): string | undefined {
  const host = toHost(zone, name)
  const cut = findDelegation(zone, host)
  if (cut) {
    createReferral(zone, cut, answer)
    return undefined
  }
  const records = findRecords(zone, host)
  if (!records) {
    // After a CNAME the requested name exists; only its target does not.
    answer.rcode = 'NXDOMAIN'
    answer.authorities.push(createSoa(zone))
    return undefined
  }
  const alias = records.find((it) => it.type === 'CNAME')
  if (alias && type !== 'CNAME') {
    answer.answers.push(...toAnswers(alias, name))
    return alias.value
  }
  const matching = records.filter((it) => it.type === type).flatMap((it) => toAnswers(it, name))
  if (host === '@' && type === 'SOA') matching.push(createSoa(zone))
  if (host === '@' && type === 'NS') matching.push(...zone.nameservers.map((it) => toNameserverHost(zone.name, it)))
  if (matching.length === 0) answer.authorities.push(createSoa(zone))
  else answer.answers.push(...matching)
  return undefined
}

function toHost(zone: Zone, name: string): string {
  const lower = name.toLowerCase()
  return lower === zone.name ? '@' : lower.slice(0, -zone.name.length - 1)
}

/** Returns the closest name, this name or a parent, that is delegated to another server. */
function findDelegation(zone: Zone, host: string): string | undefined {
  if (host === '@') return undefined
  const labels = host.split('.')
  for (let from = labels.length - 1; from >= 0; from -= 1) {
    const above = labels.slice(from).join('.')
    if (zone.records.some((record) => record.type === 'NS' && record.host === above)) return above
  }
  return undefined
}

function createReferral(zone: Zone, cut: string, answer: ZoneAnswer): void {
  if (answer.answers.length === 0) answer.authoritative = false
  for (const record of zone.records.filter(
    (dnsRecordData) => dnsRecordData.type === 'NS' && dnsRecordData.host === cut,
  )) {
    answer.authorities.push(...toAnswers(record, `${cut}.${zone.name}`))
    if (!record.value.endsWith(`.${zone.name}`)) continue
    const glue = zone.records.filter(
      (dnsRecordData) => isAddress(dnsRecordData) && `${dnsRecordData.host}.${zone.name}` === record.value,
    )
    answer.additionals.push(...glue.flatMap((it) => toAnswers(it, record.value)))
  }
}

function isAddress({ type }: DnsRecordData): boolean {
  return type === 'A' || type === 'AAAA'
}

/** @returns undefined if the name does not exist, neither as a record nor as an ancestor or by a wildcard */
function findRecords({ records }: Zone, host: string): readonly DnsRecordData[] | undefined {
  if (host === '@') return records.filter((it) => it.host === '@')
  const exact = records.filter((it) => it.host === host)
  if (exact.length > 0) return exact
  if (records.some((it) => it.host.endsWith(`.${host}`))) return []
  const labels = host.split('.')
  for (let from = 1; from <= labels.length; from += 1) {
    const above = labels.slice(from).join('.')
    const wild = above === '' ? '*' : `*.${above}`
    const matched = records.filter((it) => it.host === wild)
    if (matched.length > 0) return matched
    const nameExists = records.some((record) => record.host === above || record.host.endsWith(`.${above}`))
    if (above !== '' && nameExists) return undefined
  }
  return undefined
}

function createSoa({ name, serial, nameservers }: Zone): Answer {
  const [mname = `ns1.${name}`] = nameservers
  return {
    type: 'SOA',
    name,
    ttl: negativeTtl,
    data: {
      mname,
      rname: `hostmaster.${name}`,
      serial: serial % 2 ** 32,
      refresh: 3_600,
      retry: 600,
      expire: 604_800,
      minimum: negativeTtl,
    },
  }
}

function toNameserverHost(name: string, data: string): Answer {
  return { type: 'NS', name, ttl: nameserverTtl, data }
}

function toAnswers({ type, value, ttl, distance }: DnsRecordData, name: string): Answer[] {
  switch (type) {
    case 'MX':
      return [{ type, name, ttl, data: { preference: distance ?? 0, exchange: value } }]
    case 'TXT':
      return [{ type, name, ttl, data: splitText(value).map((it) => Buffer.from(it)) }]
    case 'SRV': {
      const [weight, port, target = ''] = value.split(' ')
      return [
        { type, name, ttl, data: { priority: distance ?? 0, weight: Number(weight), port: Number(port), target } },
      ]
    }
    case 'CAA': {
      const [, flags, tag = '', text = ''] = /^(\d+) (\S+) "(.*)"$/.exec(value) ?? []
      // The library's type allows three tags, the wire format any.
      return [{ type, name, ttl, data: { flags: Number(flags), tag: tag as 'issue', value: text } }]
    }
    default:
      return [{ type, name, ttl, data: value }]
  }
}
