import type { DnsRecordData } from './dnsRecord.ts'

/** Two records that cannot stand in one zone, and why. */
export type ZoneConflict = { with: DnsRecordData; reason: 'duplicate' | 'cname' }

/**
 * Whether a record, in its normal form, can be added to those of a zone: no record twice, and beside a CNAME nothing.
 * @param others without the record that it takes the place of
 */
export function findZoneConflict(others: readonly DnsRecordData[], added: DnsRecordData): ZoneConflict | undefined {
  for (const otherRecord of others) {
    if (isSame(otherRecord, added)) return { with: otherRecord, reason: 'duplicate' }
    if (otherRecord.host !== added.host) continue
    if (otherRecord.type === 'CNAME' || added.type === 'CNAME') return { with: otherRecord, reason: 'cname' }
  }
  return undefined
}

/** The TTL does not make a record another one. */
function isSame(a: DnsRecordData, b: DnsRecordData): boolean {
  return (
    a.type === b.type && a.host === b.host && a.value === b.value && (a.type !== 'SRV' || a.distance === b.distance)
  )
}
