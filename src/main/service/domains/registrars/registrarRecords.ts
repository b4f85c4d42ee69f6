import { quoteText } from '#shared/dns/characterStrings.ts'
import {
  type DnsRecordData,
  type DnsRecordType,
  dnsRecordTypes,
  normalizeHost,
  normalizeRecord,
} from '#shared/dns/dnsRecord.ts'
import { type Registrar, RegistrarError, type RegistrarRecord } from './registrar.ts'

/** Record as reported by a registrar, with the host in the registrar's notation. */
export type ReportedRecord = Omit<RegistrarRecord, 'type'> & { type: string }

/**
 * Converts records of a registrar. Drops unknown types and the records that the registrar itself maintains at `@`,
 * which cannot be changed here.
 */
export function toRegistrarRecords(zone: string, reported: readonly ReportedRecord[]): RegistrarRecord[] {
  return reported.flatMap((record) => {
    const { id, type, value, ttl, distance } = record
    if (!isSupportedType(type)) return []
    const host = toHost(zone, record.host)
    if (host === undefined || (type === 'NS' && host === '@')) return []
    const fields = { type, host, value, ttl, distance: type === 'MX' || type === 'SRV' ? distance : null }
    return [{ ...normalizeReported(zone, fields), id }]
  })
}

/**
 * Formats the text of a TXT record for registrars, which parse text with a leading quote as character strings and trim
 * whitespace at both ends.
 */
export function formatValue({ type, value }: DnsRecordData): string {
  return type === 'TXT' && (value.startsWith('"') || value.trim() !== value) ? quoteText(value) : value
}

/** @throws RegistrarError `unsupported` */
export function assertSupportedType(
  { title, recordTypes }: Pick<Registrar, 'title' | 'recordTypes'>,
  type: DnsRecordType,
): void {
  if (recordTypes.includes(type)) return
  throw new RegistrarError('unsupported', `The API of ${title} does not support ${type} records.`)
}

function isSupportedType(type: string): type is DnsRecordType {
  return dnsRecordTypes.some((it) => it === type)
}

function toHost(zone: string, reportedHost: string): string | undefined {
  try {
    return normalizeHost(zone, reportedHost)
  } catch {
    return undefined
  }
}

/** Records that violate our rules, such as a longer TTL, are returned unchanged. */
function normalizeReported(zone: string, record: DnsRecordData): DnsRecordData {
  try {
    return { ...normalizeRecord(zone, { ...record, ttl: 3_600 }), ttl: record.ttl }
  } catch {
    return record
  }
}
