import type { DnsRecordData } from './dnsRecord.ts'

/** Two records that cannot stand in one zone, and why. */
export type ZoneConflict = { with: DnsRecordData; reason: 'duplicate' | 'cname' }

/**
 * Whether a record, in its normal form, can be added to those of a zone: no record twice, and beside a CNAME nothing.
 * @param others without the record that it takes the place of
 */
export function zoneConflict(others: readonly DnsRecordData[], added: DnsRecordData): ZoneConflict | undefined {
  for (const other of others) {
    if (isSame(other, added)) return { with: other, reason: 'duplicate' }
    if (other.host !== added.host) continue
    if (other.type === 'CNAME' || added.type === 'CNAME') return { with: other, reason: 'cname' }
  }
  return undefined
}

/** The TTL does not make a record another one. */
function isSame(one: DnsRecordData, other: DnsRecordData): boolean {
  return (
    one.type === other.type &&
    one.host === other.host &&
    one.value === other.value &&
    (one.type !== 'SRV' || one.distance === other.distance)
  )
}
