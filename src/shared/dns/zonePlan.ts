import { type DnsRecordData, DnsRecordFault, dnsLimits, normalRecord } from './dnsRecord.ts'
import { zoneConflict } from './zoneRules.ts'

export type PresentRecord = DnsRecordData & { id: string }
/** One call to the registrar. */
export type ZoneStep =
  | { action: 'remove'; before: PresentRecord }
  | { action: 'change'; before: PresentRecord; after: DnsRecordData }
  | { action: 'add'; after: DnsRecordData }

/** A wanted record that cannot be: which one, and why. */
export class ZonePlanFault extends Error {
  readonly at: number

  constructor(at: number, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'ZonePlanFault'
    this.at = at
  }
}

/**
 * The steps from the records of a zone to those wanted, in an order in which no step meets a conflict: removals, then
 * changes, then additions. A record that stays as it is, is not judged. Text of TXT is taken as it is, without quotes.
 * @throws ZonePlanFault
 */
export function zonePlan(
  zone: string,
  present: readonly PresentRecord[],
  wanted: readonly DnsRecordData[],
): ZoneStep[] {
  if (wanted.length > dnsLimits.records) {
    throw new ZonePlanFault(dnsLimits.records, `A domain can have at most ${dnsLimits.records} DNS records.`)
  }
  const left = [...present]
  const takeLeft = (fits: (it: PresentRecord) => boolean): PresentRecord | undefined => {
    const at = left.findIndex(fits)
    return at < 0 ? undefined : left.splice(at, 1)[0]
  }
  const isOther = wanted.map((record) => takeLeft((it) => exactKey(it) === exactKey(record)) === undefined)
  const final = wanted.map((record, at) => (isOther[at] ? normal(zone, record, at) : record))
  final.forEach((record, at) => {
    if (isOther[at]) requireFits(final, record, at)
  })
  const asked = final.filter((_, at) => isOther[at])

  const changes: ZoneStep[] = []
  const pair = (record: DnsRecordData, key: (it: DnsRecordData) => string): boolean => {
    const before = takeLeft((it) => key(it) === key(record))
    if (before && exactKey(before) !== exactKey(record)) changes.push({ action: 'change', before, after: record })
    return before !== undefined
  }
  // The same value with another TTL first: what is left of one name and type is paired as it comes.
  const valued = asked.filter((record) => !pair(record, valueKey))
  const added = valued.filter((record) => !pair(record, nameKey))
  return [
    ...left.map((before) => ({ action: 'remove', before }) as const),
    ...changes,
    ...added.map((after) => ({ action: 'add', after }) as const),
  ]
}

/**
 * The value as the service takes it: text that would be read as quoted, or would lose its spaces, is quoted.
 */
export function sentValue({ type, value }: Pick<DnsRecordData, 'type' | 'value'>): string {
  if (type !== 'TXT' || (!value.startsWith('"') && value.trim() === value)) return value
  return `"${value.replace(/["\\]/g, '\\$&')}"`
}

function normal(zone: string, record: DnsRecordData, at: number): DnsRecordData {
  try {
    return normalRecord(zone, { ...record, value: sentValue(record) })
  } catch (fault) {
    if (!(fault instanceof DnsRecordFault)) throw fault
    throw wrongRecord(at, fault)
  }
}

function wrongRecord(at: number, fault: DnsRecordFault): ZonePlanFault {
  return new ZonePlanFault(at, fault.message, { cause: fault })
}

function requireFits(all: readonly DnsRecordData[], record: DnsRecordData, at: number): void {
  const conflict = zoneConflict(
    all.filter((_, other) => other !== at),
    record,
  )
  if (!conflict) return
  const name = `${record.type} ${record.host}`
  if (conflict.reason === 'duplicate') throw new ZonePlanFault(at, `${name} is there twice with the same value.`)
  throw new ZonePlanFault(at, `${record.host} has a ${conflict.with.type} record, and a CNAME stands alone.`)
}

function exactKey({ type, host, value, ttl, distance }: DnsRecordData): string {
  return JSON.stringify([type, host, value, ttl, distance])
}

function valueKey({ type, host, value }: DnsRecordData): string {
  return JSON.stringify([type, host, value])
}

function nameKey({ type, host }: DnsRecordData): string {
  return JSON.stringify([type, host])
}
