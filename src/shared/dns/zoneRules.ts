import type { DnsRecordData } from './dnsRecord.ts'

/** Conflict with an existing record, and its reason. */
export type ZoneConflict = { with: DnsRecordData; reason: 'duplicate' | 'cname' }

/**
 * Finds the record that conflicts with a normalized record: a duplicate, or any record next to a CNAME.
 * @param others present records, without the one to be replaced
 */
export function findZoneConflict(others: readonly DnsRecordData[], added: DnsRecordData): ZoneConflict | undefined {
  for (const otherRecord of others) {
    if (isSame(otherRecord, added)) return { with: otherRecord, reason: 'duplicate' }
    if (otherRecord.host !== added.host) continue
    if (otherRecord.type === 'CNAME' || added.type === 'CNAME') return { with: otherRecord, reason: 'cname' }
  }
  return undefined
}

/** Compares records, ignoring the TTL. */
function isSame(a: DnsRecordData, b: DnsRecordData): boolean {
  return (
    a.type === b.type && a.host === b.host && a.value === b.value && (a.type !== 'SRV' || a.distance === b.distance)
  )
}
