import fc from 'fast-check'
import { type DnsRecordData, type NewDnsRecord, normalizeRecord } from '#shared/dns/dnsRecord.ts'
import { findZoneConflict } from '#shared/dns/zoneRules.ts'

const label = fc.constantFrom('www', 'mail', 'a', 'b', '*', '_x', 'dev.api', 'x-1')
const host = fc.oneof(fc.constant('@'), label)
const target = fc.constantFrom('example.net', 'mx.example.org', 'deep.in.example.com')
const ttl = fc.integer({ min: 300, max: 86_400 })
const distance = fc.integer({ min: 0, max: 65_535 })
const text = fc
  .oneof(
    fc.constantFrom('"quoted"', ' spaces ', '\\', '"', `${'é'.repeat(300)}`),
    fc.string({ minLength: 1, unit: 'grapheme' }),
  )
  .filter((it) => !/[\p{Cc}\p{Cs}]/u.test(it) && new TextEncoder().encode(it).length <= 1_000)

const record: fc.Arbitrary<NewDnsRecord> = fc.oneof(
  fc.record({ type: fc.constant('A' as const), host, ttl, value: fc.ipV4() }),
  fc.record({ type: fc.constant('AAAA' as const), host, ttl, value: fc.ipV6().filter((it) => !it.includes('.')) }),
  fc.record({ type: fc.constant('CNAME' as const), host: label, ttl, value: target }),
  fc.record({ type: fc.constant('MX' as const), host, ttl, distance, value: target }),
  fc.record({ type: fc.constant('TXT' as const), host, ttl, value: text }),
  fc.record({
    type: fc.constant('SRV' as const),
    ...{ host: fc.constantFrom('_sip._tcp', '_x._udp.a'), ttl, distance },
    value: fc.tuple(fc.nat(65_535), fc.nat(65_535), target).map((it) => it.join(' ')),
  }),
  fc.record({
    type: fc.constant('CAA' as const),
    host,
    ttl,
    value: fc.constantFrom('0 issue "a.example"', '0 issue ";"'),
  }),
)

/** Generates normalized records that can coexist in one zone. */
export function randomZone(zone: string): fc.Arbitrary<DnsRecordData[]> {
  return fc.array(record, { maxLength: 25 }).map((all) => {
    const records: DnsRecordData[] = []
    for (const candidate of all) {
      // Quotes TXT values as in a zone file. A value may itself begin with a quote.
      const value = candidate.type === 'TXT' ? `"${candidate.value.replace(/["\\]/g, '\\$&')}"` : candidate.value
      const record = normalizeRecord(zone, { ...candidate, value })
      if (!findZoneConflict(records, record)) records.push(record)
    }
    return records
  })
}
