import { z } from 'zod'
import { encodeUtf8 } from '../utf8.ts'
import { parseCharacterStrings } from './characterStrings.ts'

export const dnsRecordTypes = ['A', 'AAAA', 'CNAME', 'MX', 'TXT', 'SRV', 'CAA', 'NS'] as const
export type DnsRecordType = (typeof dnsRecordTypes)[number]

export const dnsLimits = {
  /** In seconds. */
  ttl: { min: 300, max: 86_400, default: 3_600 },
  /** Preference of MX records and priority of SRV records. */
  distance: { min: 0, max: 65_535, default: 10 },
  /** Maximum length of a TXT record, in bytes. */
  textBytes: 4_096,
  records: 1_000,
} as const

/** Record of a zone. `host` is relative to the zone: `@` for the zone itself, `www`, `*`. */
export type DnsRecordData = {
  type: DnsRecordType
  host: string
  /** A, AAAA: an address. CNAME, MX, NS: a host name. SRV: `weight port target`. CAA: `flags tag "value"`. TXT: the text. */
  value: string
  ttl: number
  /** Priority of MX and SRV records. Null for other types. */
  distance: number | null
}

export type NewDnsRecord = Omit<DnsRecordData, 'ttl' | 'distance'> & {
  ttl?: number | undefined
  distance?: number | null | undefined
}

/** Invalid field of a record. The message starts with the name of the field. */
export class DnsRecordError extends Error {
  readonly field: 'type' | 'host' | 'value' | 'ttl' | 'distance'

  constructor(field: DnsRecordError['field'], demand: string) {
    super(`\`${field}\` ${demand}.`)
    this.name = 'DnsRecordError'
    this.field = field
  }
}

/**
 * Normalizes a record for comparison, storage and requests.
 * @param zone name of the domain in lower-case ASCII
 * @throws DnsRecordError
 */
export function normalizeRecord(zone: string, record: NewDnsRecord): DnsRecordData {
  const { type } = record
  const host = normalizeHost(zone, record.host)
  const value = values[type](record.value.trim(), zone)
  const distance = normalizeDistance(record)
  if (type === 'CNAME' && host === '@')
    throw new DnsRecordError('host', 'must not be `@`: a CNAME is not allowed at the root')
  if (type === 'NS' && host === '@') {
    throw new DnsRecordError('host', 'must not be `@`: set the nameservers of the domain instead')
  }
  if (type === 'SRV' && !/^_[a-z0-9-]{1,62}\._[a-z0-9-]{1,62}(\.|$)/.test(host)) {
    throw new DnsRecordError('host', 'must begin with service and protocol, as in `_sip._tcp`')
  }
  if (type === 'NS' && host.includes('*')) throw new DnsRecordError('host', 'must not be a wildcard for NS')
  return { type, host, value, ttl: normalizeTtl(record.ttl), distance }
}

const label = /^(?!-)[a-z0-9_-]{1,63}(?<!-)$/

/** @throws DnsRecordError */
export function normalizeHost(zone: string, input: string): string {
  const lower = input.trim().toLowerCase().replace(/\.$/, '')
  const isZone = lower === '' || lower === '@' || lower === zone
  const host = isZone ? '@' : lower.endsWith(`.${zone}`) ? lower.slice(0, -zone.length - 1) : lower
  if (host === '@') return host
  const labels = host.split('.')
  const isName = labels.every((it, index) => label.test(it) || (index === 0 && it === '*'))
  if (!isName) throw new DnsRecordError('host', 'must be `@`, or labels of letters, digits, `-` and `_`, as in `www`')
  if (host.length + 1 + zone.length > 253) throw new DnsRecordError('host', 'is too long together with the domain')
  return host
}

function normalizeTtl(ttl: number | undefined): number {
  const { min, max, default: defaultTtl } = dnsLimits.ttl
  if (ttl === undefined) return defaultTtl
  if (Number.isInteger(ttl) && ttl >= min && ttl <= max) return ttl
  throw new DnsRecordError('ttl', `must be a whole number of seconds from ${min} to ${max}`)
}

function normalizeDistance({ type, distance }: NewDnsRecord): number | null {
  const { min, max, default: defaultDistance } = dnsLimits.distance
  const number = distance ?? defaultDistance
  if (!Number.isInteger(number) || number < min || number > max) {
    throw new DnsRecordError('distance', `must be a whole number from ${min} to ${max}`)
  }
  if (hasDistance(type)) return number
  if (distance === undefined || distance === null) return null
  throw new DnsRecordError('distance', `must be omitted: ${type} records have none`)
}

/** Whether records of this type have a preference or priority. */
export function hasDistance(type: DnsRecordType): boolean {
  return type === 'MX' || type === 'SRV'
}

type Normal = (value: string, zone: string) => string

const Ipv4 = z.ipv4()
const Ipv6 = z.ipv6()

const values: Readonly<Record<DnsRecordType, Normal>> = {
  A(value) {
    if (Ipv4.safeParse(value).success) return value
    throw new DnsRecordError('value', 'must be an IPv4 address, as in `192.0.2.1`')
  },
  AAAA(value) {
    if (Ipv6.safeParse(value).success && !value.includes('%')) return normalizeIpv6(value)
    throw new DnsRecordError('value', 'must be an IPv6 address, as in `2001:db8::1`')
  },
  CNAME: normalizeTarget,
  NS: normalizeTarget,
  MX: (value, zone) => (value === '.' ? value : normalizeTarget(value, zone)),
  TXT(value) {
    const text = value.startsWith('"') ? parseCharacterStrings(value) : value
    if (text === undefined) throw new DnsRecordError('value', 'has unbalanced quotes')
    const bytes = encodeUtf8(text).length
    if (bytes === 0) throw new DnsRecordError('value', 'must not be empty')
    if (bytes > dnsLimits.textBytes) {
      throw new DnsRecordError('value', `must have at most ${dnsLimits.textBytes} bytes`)
    }
    if (/[\p{Cc}\p{Cs}]/u.test(text)) throw new DnsRecordError('value', 'must not have control characters')
    return text
  },
  SRV(value, zone) {
    const [weight = '', port = '', target = '', ...more] = value.split(/\s+/)
    const isNumber = (text: string) => /^\d{1,5}$/.test(text) && Number(text) <= 65_535
    if (!isNumber(weight) || !isNumber(port) || target === '' || more.length > 0) {
      throw new DnsRecordError('value', 'must be weight, port and target, as in `5 5060 sip.example.com`')
    }
    return `${Number(weight)} ${Number(port)} ${target === '.' ? target : normalizeTarget(target, zone)}`
  },
  CAA(value) {
    const parts = /^(\d{1,3})\s+([A-Za-z0-9]{1,15})\s+(?:"([^"\\\p{Cc}]*)"|([^\s"\\]+))$/u.exec(value)
    const [, flags = '', tag = '', quoted, bare] = parts ?? []
    if (!parts || Number(flags) > 255) {
      throw new DnsRecordError('value', 'must be flags, tag and value, as in `0 issue "letsencrypt.org"`')
    }
    return `${Number(flags)} ${tag.toLowerCase()} "${quoted ?? bare ?? ''}"`
  },
}

function normalizeTarget(value: string, zone: string): string {
  const lower = value.toLowerCase().replace(/\.$/, '')
  const name = lower === '@' ? zone : lower
  const labels = name.split('.')
  const isAddress = Ipv4.safeParse(name).success || Ipv6.safeParse(name).success
  if (!isAddress && labels.length > 1 && name.length <= 253 && labels.every((it) => label.test(it))) return name
  throw new DnsRecordError('value', 'must be a full host name, as in `mail.example.com`')
}

/** Formats an address according to RFC 5952: the first of the longest runs of zeros becomes `::`. */
function normalizeIpv6(text: string): string {
  const [, before = text, ...digits] = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(text) ?? []
  const [a = 0, b = 0, c = 0, d = 0] = digits.map(Number)
  const whole = digits.length > 0 ? `${before}${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}` : text
  const [head = '', tail] = whole.split('::')
  const splitGroups = (part: string) => (part === '' ? [] : part.split(':'))
  const first = splitGroups(head)
  const last = splitGroups(tail ?? '')
  const zeros = Array.from({ length: 8 - first.length - last.length }, () => '0')
  const groups = [...first, ...zeros, ...last].map((value) => Number.parseInt(value, 16).toString(16))
  const runs = groups.join(':').match(/(?<=^|:)0(:0)+(?=:|$)/g) ?? []
  const [maxRun] = runs.toSorted((a, b) => b.length - a.length)
  return maxRun === undefined ? groups.join(':') : shortenAddress(groups.join(':'), maxRun)
}

function shortenAddress(address: string, run: string): string {
  const index = new RegExp(`(?:^|:)${run}(?:$|:)`).exec(address)
  return index ? `${address.slice(0, index.index)}::${address.slice(index.index + index[0].length)}` : address
}
