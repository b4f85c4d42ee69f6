import { type DnsRecordData, DnsRecordError, dnsLimits, normalizeRecord } from './dnsRecord.ts'
import { findZoneConflict } from './zoneRules.ts'

export type PresentRecord = DnsRecordData & { id: string }
/** Change of a zone by one call to the registrar. */
export type ZoneStep =
  | { action: 'remove'; before: PresentRecord }
  | { action: 'change'; before: PresentRecord; after: DnsRecordData }
  | { action: 'add'; after: DnsRecordData }

/** Error of a desired record, with its index and the reason. */
export class ZonePlanError extends Error {
  readonly index: number

  constructor(index: number, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'ZonePlanError'
    this.index = index
  }
}

/**
 * Computes the steps from the present to the desired records. Removals come first, then changes, then additions, so
 * that no step conflicts with an existing record. Unchanged records are not validated. TXT values are unquoted text.
 * @throws ZonePlanError
 */
export function planZone(
  zone: string,
  present: readonly PresentRecord[],
  desired: readonly DnsRecordData[],
): ZoneStep[] {
  if (desired.length > dnsLimits.records) {
    throw new ZonePlanError(dnsLimits.records, `A domain can have at most ${dnsLimits.records} DNS records.`)
  }
  const remaining = [...present]
  const takeRemaining = (fits: (it: PresentRecord) => boolean): PresentRecord | undefined => {
    const index = remaining.findIndex(fits)
    return index < 0 ? undefined : remaining.splice(index, 1)[0]
  }
  const isOther = desired.map(
    (record) => takeRemaining((presentRecord) => toExactKey(presentRecord) === toExactKey(record)) === undefined,
  )
  const final = desired.map((record, index) => (isOther[index] ? normalizePlanRecord(zone, record, index) : record))
  final.forEach((record, index) => {
    if (isOther[index]) requireFits(final, record, index)
  })
  const changedRecords = final.filter((_, index) => isOther[index])

  const changes: ZoneStep[] = []
  const pair = (record: DnsRecordData, key: (it: DnsRecordData) => string): boolean => {
    const before = takeRemaining((presentRecord) => key(presentRecord) === key(record))
    if (before && toExactKey(before) !== toExactKey(record)) changes.push({ action: 'change', before, after: record })
    return before !== undefined
  }
  // Pairs records with the same value and a different TTL first. Remaining records of a name and type are paired in
  // order.
  const valued = changedRecords.filter((record) => !pair(record, toValueKey))
  const added = valued.filter((record) => !pair(record, toNameKey))
  return [
    ...remaining.map((before) => ({ action: 'remove', before }) as const),
    ...changes,
    ...added.map((after) => ({ action: 'add', after }) as const),
  ]
}

/** Formats the value for the service. Quotes text that would be parsed as quoted, or that would lose its spaces. */
export function toWireValue({ type, value }: Pick<DnsRecordData, 'type' | 'value'>): string {
  if (type !== 'TXT' || (!value.startsWith('"') && value.trim() === value)) return value
  return `"${value.replace(/["\\]/g, '\\$&')}"`
}

function normalizePlanRecord(zone: string, record: DnsRecordData, index: number): DnsRecordData {
  try {
    return normalizeRecord(zone, { ...record, value: toWireValue(record) })
  } catch (fault) {
    if (!(fault instanceof DnsRecordError)) throw fault
    throw createRecordFault(index, fault)
  }
}

function createRecordFault(index: number, fault: DnsRecordError): ZonePlanError {
  return new ZonePlanError(index, fault.message, { cause: fault })
}

function requireFits(all: readonly DnsRecordData[], record: DnsRecordData, index: number): void {
  const conflict = findZoneConflict(
    all.filter((_, otherIndex) => otherIndex !== index),
    record,
  )
  if (!conflict) return
  const name = `${record.type} ${record.host}`
  if (conflict.reason === 'duplicate') throw new ZonePlanError(index, `${name} appears twice with the same value.`)
  throw new ZonePlanError(
    index,
    `${record.host} has a ${conflict.with.type} record, and a CNAME cannot coexist with other records.`,
  )
}

function toExactKey({ type, host, value, ttl, distance }: DnsRecordData): string {
  return JSON.stringify([type, host, value, ttl, distance])
}

function toValueKey({ type, host, value }: DnsRecordData): string {
  return JSON.stringify([type, host, value])
}

function toNameKey({ type, host }: DnsRecordData): string {
  return JSON.stringify([type, host])
}
