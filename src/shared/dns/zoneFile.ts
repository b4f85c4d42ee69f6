import { quoteText } from './characterStrings.ts'
import {
  type DnsRecordData,
  DnsRecordError,
  type DnsRecordType,
  dnsLimits,
  dnsRecordTypes,
  normalizeRecord,
} from './dnsRecord.ts'
import { readZoneEntries, type ZoneEntry, ZoneFileError } from './zoneTokens.ts'

/** Line that an import skips, with the reason. */
export type SkippedLine = { line: number; reason: string }
/** Record whose TTL was clamped to the limits. */
export type ClampedTtl = { line: number; from: number; to: number }
export type ImportedZone = { records: DnsRecordData[]; skipped: SkippedLine[]; clamped: ClampedTtl[] }

/** Maximum length in characters. */
export const zoneFileLimit = 1_000_000

/**
 * Parses a zone file in BIND format (RFC 1035, section 5) for one domain. Skips the SOA record and the nameservers of
 * the domain itself, which the registrar manages.
 * @param zone name of the domain in lower-case ASCII
 * @throws ZoneFileError with the line number; a file with an error is rejected completely
 */
export function parseZoneFile(zone: string, text: string): ImportedZone {
  if (text.length > zoneFileLimit) throw new ZoneFileError(1, `The file has more than ${zoneFileLimit} characters`)
  const imported: ImportedZone = { records: [], skipped: [], clamped: [] }
  const seenRecords = new Set<string>()
  const state: State = { origin: zone, owner: undefined, ttl: undefined, lastTtl: undefined }
  for (const entry of readZoneEntries(text)) {
    const read = readEntry(zone, state, entry)
    if (!read) continue
    if ('reason' in read) {
      imported.skipped.push(read)
      continue
    }
    const key = JSON.stringify([read.type, read.host, read.value, read.distance])
    if (seenRecords.has(key)) throw new ZoneFileError(entry.line, 'The file contains this record twice')
    seenRecords.add(key)
    imported.records.push(read)
    const from = state.lastTtl
    if (from !== undefined && from !== read.ttl) imported.clamped.push({ line: entry.line, from, to: read.ttl })
    if (imported.records.length > dnsLimits.records) {
      throw new ZoneFileError(entry.line, `The file has more than ${dnsLimits.records} records`)
    }
  }
  return imported
}

type State = {
  /** Origin of names without a trailing dot. */
  origin: string
  owner: string | undefined
  /** Value of `$TTL`. */
  ttl: number | undefined
  lastTtl: number | undefined
}

function readEntry(zone: string, state: State, entry: ZoneEntry): DnsRecordData | SkippedLine | undefined {
  const { line, words } = entry
  const [first] = words
  if (first && !first.quoted && first.text.startsWith('$')) return readDirective(state, entry)
  let index = 0
  if (!entry.continues && first) {
    state.owner = toAbsoluteName(first.text, state.origin)
    index = 1
  }
  if (state.owner === undefined) throw new ZoneFileError(line, 'The first record has no name')
  let ttl: number | undefined
  for (let more = 0; more < 2; more += 1) {
    const word = words[index]?.text ?? ''
    const seconds = ttl === undefined ? toSeconds(word) : undefined
    if (seconds === undefined && !/^(in|ch|hs|cs)$/i.test(word)) break
    if (seconds === undefined && word.toUpperCase() !== 'IN') {
      throw new ZoneFileError(line, `Records of class ${word.toUpperCase()} cannot be imported`)
    }
    ttl ??= seconds
    index += 1
  }
  const type = words[index]?.text.toUpperCase() ?? ''
  const data = words.slice(index + 1)
  state.lastTtl = ttl ?? state.ttl ?? state.lastTtl
  if (!/^[A-Z][A-Z0-9-]{0,15}$/.test(type)) throw new ZoneFileError(line, 'The record type is missing')
  const isOfDomain = state.owner === zone && type === 'NS'
  if (type === 'SOA' || isOfDomain) return { line, reason: `${type}: set by the registrar` }
  if (!isSupportedType(type)) return { line, reason: `${type}: not supported` }
  return record({ zone, line, type, data, owner: state.owner, origin: state.origin, ttl: state.lastTtl })
}

function readDirective(state: State, { line, words }: ZoneEntry): undefined {
  const [name, value, ...more] = words
  const type = name?.text.toUpperCase() ?? ''
  const text = value?.text ?? ''
  if (type === '$ORIGIN' && text !== '' && more.length === 0) {
    state.origin = toAbsoluteName(text, state.origin)
    return
  }
  const seconds = toSeconds(text)
  if (type === '$TTL' && seconds !== undefined && more.length === 0) {
    state.ttl = seconds
    return
  }
  if (type === '$ORIGIN' || type === '$TTL') throw new ZoneFileError(line, `${type} has an invalid value`)
  throw new ZoneFileError(line, `${type.slice(0, 20)} is not allowed in an import`)
}

type ParsedRecord = {
  zone: string
  line: number
  type: DnsRecordType
  data: ZoneEntry['words']
  owner: string
  origin: string
  ttl: number | undefined
}

function record({ zone, line, type, data, owner, origin, ttl }: ParsedRecord): DnsRecordData {
  if (owner !== zone && !owner.endsWith(`.${zone}`)) {
    throw new ZoneFileError(line, `${owner.slice(0, 80)} is not part of ${zone}`)
  }
  const host = owner === zone ? '@' : owner.slice(0, -zone.length - 1)
  if (host === zone || host.endsWith(`.${zone}`)) {
    throw new ZoneFileError(line, `${owner.slice(0, 80)} repeats the domain: a dot is missing at its end`)
  }
  try {
    return normalizeRecord(zone, { type, host, ttl: clampTtl(ttl), ...readValue(type, data, { line, origin }) })
  } catch (fault) {
    if (!(fault instanceof DnsRecordError)) throw fault
    throw createLineError(line, fault)
  }
}

function createLineError(line: number, fault: DnsRecordError): ZoneFileError {
  const words = fault.message
    .replace(/\.$/, '')
    .replace(/^`(\w+)`/, fieldNames[fault.field])
    .replace(/`([^`]*)`/g, '“$1”')
  return new ZoneFileError(line, words, { cause: fault })
}

const fieldNames: Readonly<Record<DnsRecordError['field'], string>> = {
  ...{ type: 'The type', host: 'The name', value: 'The value', ttl: 'The TTL', distance: 'The priority' },
}

/** Clamps a TTL. DNS providers export 1 for an automatic TTL, and support a wider range than registrars. */
function clampTtl(ttl: number | undefined): number | undefined {
  const { min, max } = dnsLimits.ttl
  return ttl === undefined ? undefined : Math.min(Math.max(ttl, min), max)
}

function readValue(
  type: DnsRecordType,
  data: ZoneEntry['words'],
  { line, origin }: { line: number; origin: string },
): { value: string; distance?: number } {
  const plain = data.map(({ text }) => text)
  const demand = (count: number) => {
    if (plain.length !== count)
      throw new ZoneFileError(line, `${type} needs ${count === 1 ? 'one value' : `${count} values`}`)
  }
  const number = (text = '') => {
    if (/^\d{1,5}$/.test(text)) return Number(text)
    throw new ZoneFileError(line, `${type} has an invalid number`)
  }
  const target = (text = '') => (text === '.' ? text : toAbsoluteName(text, origin))
  switch (type) {
    case 'TXT':
      if (data.length === 0) throw new ZoneFileError(line, 'TXT needs one value')
      return { value: data.map(({ text }) => `"${text}"`).join(' ') }
    case 'CNAME':
    case 'NS':
      demand(1)
      return { value: target(plain[0]) }
    case 'MX':
      demand(2)
      return { distance: number(plain[0]), value: target(plain[1]) }
    case 'SRV':
      demand(4)
      return { distance: number(plain[0]), value: `${number(plain[1])} ${number(plain[2])} ${target(plain[3])}` }
    case 'CAA':
      demand(3)
      return { value: `${plain[0]} ${plain[1]} "${plain[2]}"` }
    default:
      demand(1)
      return { value: plain[0] ?? '' }
  }
}

/** Returns the name in lower case, without the trailing dot. */
function toAbsoluteName(name: string, origin: string): string {
  const lower = name.toLowerCase()
  if (lower === '@') return origin
  return lower.endsWith('.') ? lower.slice(0, -1) : `${lower}.${origin}`
}

const units = { s: 1, m: 60, h: 3_600, d: 86_400, w: 604_800 } as const

/** Parses a duration such as `3600` or `1h30m`. */
function toSeconds(text: string): number | undefined {
  if (/^\d{1,10}$/.test(text)) return Number(text)
  if (!/^(\d{1,6}[smhdw])+$/i.test(text)) return undefined
  let seconds = 0
  for (const [, count, unit] of text.toLowerCase().matchAll(/(\d+)([smhdw])/g)) {
    seconds += Number(count) * units[unit as keyof typeof units] // the regular expression matches only these letters
  }
  return seconds
}

function isSupportedType(type: string): type is DnsRecordType {
  return (dnsRecordTypes as readonly string[]).includes(type)
}

/** Formats a zone file in BIND format, with an SOA record and the nameservers, so that it is complete. */
export function formatZoneFile(zone: {
  name: string
  nameservers: readonly string[]
  records: readonly DnsRecordData[]
}): string {
  const [primary = `ns1.${zone.name}`] = zone.nameservers
  const { default: ttl } = dnsLimits.ttl
  return [
    `$ORIGIN ${zone.name}.`,
    `$TTL ${ttl}`,
    `@ ${ttl} IN SOA ${primary}. hostmaster.${zone.name}. ( 1 7200 3600 1209600 3600 )`,
    ...zone.nameservers.map((it) => `@ ${ttl} IN NS ${it}.`),
    ...zone.records.map(
      (dnsRecordData) =>
        `${dnsRecordData.host} ${dnsRecordData.ttl} IN ${dnsRecordData.type} ${formatData(dnsRecordData)}`,
    ),
    '',
  ].join('\n')
}

function formatData({ type, value, distance }: DnsRecordData): string {
  if (type === 'TXT') return quoteText(value)
  if (type === 'A' || type === 'AAAA') return value
  if (type === 'CAA') return formatCaa(value)
  const dotted = value === '.' || value.endsWith(' .') ? value : `${value}.`
  return type === 'MX' || type === 'SRV' ? `${distance ?? 0} ${dotted}` : dotted
}

/** Formats a CAA value. Zone files encode characters beyond ASCII as `\ddd`. */
function formatCaa(value: string): string {
  const [, head = '', text = ''] = /^(\S+ \S+) "(.*)"$/su.exec(value) ?? []
  return `${head} ${text === '' ? '""' : quoteText(text)}`
}
