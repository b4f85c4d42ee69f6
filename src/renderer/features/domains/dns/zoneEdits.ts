import type { DnsRecord } from '#shared/contract/dnsRecords.ts'
import { type DnsRecordData, DnsRecordError, hasDistance, normalizeRecord } from '#shared/dns/dnsRecord.ts'
import { findZoneConflict } from '#shared/dns/zoneRules.ts'

/** Pending edits, preserved when the zone changes. */
export type ZoneEdits = {
  added: readonly { key: string; record: DnsRecordData }[]
  /** Changed records by id. */
  changed: Readonly<Record<string, DnsRecordData>>
  removed: readonly string[]
}

export const noEdits: ZoneEdits = { added: [], changed: {}, removed: [] }

/** Creates a key for an added record, distinct from record ids. */
export function createRecordKey(): string {
  return `new-${crypto.randomUUID()}`
}

export type ZoneRow = {
  /** Id of the record, or key of the addition. */
  key: string
  record: DnsRecordData
  state: 'same' | 'added' | 'changed' | 'removed'
}

/** Returns the records of a zone with their pending changes, additions last. */
export function buildZoneRows(records: readonly DnsRecord[], edits: ZoneEdits): ZoneRow[] {
  const rows = records.map((record): ZoneRow => {
    const changed = edits.changed[record.id]
    if (edits.removed.includes(record.id)) return { key: record.id, record: toRecordData(record), state: 'removed' }
    return { key: record.id, record: changed ?? toRecordData(record), state: changed ? 'changed' : 'same' }
  })
  return [...rows, ...edits.added.map(({ key, record }): ZoneRow => ({ key, record, state: 'added' }))]
}

export function toRecords(rows: readonly ZoneRow[]): DnsRecordData[] {
  return rows.filter(({ state }) => state !== 'removed').map(({ record }) => record)
}

export function editCount(records: readonly DnsRecord[], edits: ZoneEdits): number {
  return buildZoneRows(records, edits).filter(({ state }) => state !== 'same').length
}

/** @param key row to replace; undefined for a new record */
export function withRecord(
  edits: ZoneEdits,
  record: DnsRecordData,
  place: { key?: string; newKey: string },
): ZoneEdits {
  const { key, newKey } = place
  if (key === undefined) return { ...edits, added: [...edits.added, { key: newKey, record }] }
  if (edits.added.some((it) => it.key === key)) {
    return { ...edits, added: edits.added.map((item) => (item.key === key ? { key, record } : item)) }
  }
  return { ...edits, changed: { ...edits.changed, [key]: record } }
}

export function removeRecord(edits: ZoneEdits, key: string): ZoneEdits {
  const { [key]: _, ...changed } = edits.changed
  if (edits.added.some((it) => it.key === key)) return { ...edits, added: edits.added.filter((it) => it.key !== key) }
  return { ...edits, changed, removed: [...edits.removed, key] }
}

/** Discards the edits of a record. */
export function restoreRecord(edits: ZoneEdits, key: string): ZoneEdits {
  const { [key]: _, ...changed } = edits.changed
  return { ...edits, changed, removed: edits.removed.filter((it) => it !== key) }
}

const addressTypes: readonly DnsRecordData['type'][] = ['A', 'AAAA', 'CNAME']

/** Creates a filter for address records of a name. */
export function createAddressFilter(host: string): (record: DnsRecordData) => boolean {
  return (record) => record.host === host && addressTypes.includes(record.type)
}

/**
 * Points a name to a single address and removes its other addresses, which would otherwise receive part of the traffic.
 */
export function withAddress(
  records: readonly DnsRecord[],
  edits: ZoneEdits,
  { record, newKey }: { record: DnsRecordData; newKey: string },
): ZoneEdits {
  const isReplaced = createAddressFilter(record.host)
  const replaced = buildZoneRows(records, edits).filter((row) => row.state !== 'removed' && isReplaced(row.record))
  const same = replaced.find((row) => toRecordKey(row.record) === toRecordKey(record))
  const others = replaced.filter((row) => row !== same)
  const without = others.reduce((next, { key }) => removeRecord(next, key), edits)
  return same ? without : withRecord(without, record, { newKey })
}

/** Adds the missing records. With `replace`, all other records are removed. */
export function withImported(
  records: readonly DnsRecord[],
  imported: readonly DnsRecordData[],
  { replace, newKey }: { replace: boolean; newKey: () => string },
): ZoneEdits {
  const present = records.map(toRecordData)
  const isIn = (all: readonly DnsRecordData[], record: DnsRecordData) =>
    all.some((dnsRecordData) => toRecordKey(dnsRecordData) === toRecordKey(record))
  return {
    added: imported.filter((it) => !isIn(present, it)).map((record) => ({ key: newKey(), record })),
    changed: {},
    removed: replace ? records.filter((record) => !isIn(imported, toRecordData(record))).map(({ id }) => id) : [],
  }
}

function toRecordKey({ type, host, value, ttl, distance }: DnsRecordData): string {
  return JSON.stringify([type, host, value, ttl, distance])
}

function toRecordData({ type, host, value, ttl, distance }: DnsRecord): DnsRecordData {
  return { type, host, value, ttl, distance: distance ?? null }
}

export type RecordForm = { type: DnsRecordData['type']; host: string; value: string; ttl: string; distance: string }

/** Returns the parsed record, or the errors by field. */
export function parseRecordForm(
  zone: string,
  form: RecordForm,
  others: readonly DnsRecordData[],
): { record: DnsRecordData } | { field: DnsRecordError['field']; message: string } {
  try {
    const number = (text: string) => (text.trim() === '' ? undefined : Number(text))
    const { distance, ttl, ...fields } = form
    const record = normalizeRecord(zone, {
      ...fields,
      ttl: number(ttl),
      ...(hasDistance(form.type) && { distance: number(distance) }),
    })
    const conflict = findZoneConflict(others, record)
    if (!conflict) return { record }
    if (conflict.reason === 'duplicate') return { field: 'value', message: 'This record already exists.' }
    return {
      field: 'host',
      message: `${record.host} has a ${conflict.with.type} record. A CNAME cannot coexist with other records.`,
    }
  } catch (fault) {
    if (!(fault instanceof DnsRecordError)) throw fault
    const words = fault.message.replace(/^`\w+` /, '')
    return { field: fault.field, message: `${words.charAt(0).toUpperCase()}${words.slice(1)}`.replaceAll('`', '') }
  }
}
