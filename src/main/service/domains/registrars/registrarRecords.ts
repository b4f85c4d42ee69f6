import { quotedText } from '#shared/dns/characterStrings.ts'
import {
  type DnsRecordData,
  type DnsRecordType,
  dnsRecordTypes,
  normalHost,
  normalRecord,
} from '#shared/dns/dnsRecord.ts'
import { type Registrar, RegistrarFailure, type RegistrarRecord } from './registrar.ts'

/** A record as a registrar tells it, with its host as it is written there. */
export type ToldRecord = Omit<RegistrarRecord, 'type'> & { type: string }

/**
 * Brings records of a registrar into our form. Types that we do not know, and what the registrar keeps at `@` for
 * itself, are left out: nobody changes them here.
 */
export function toRegistrarRecords(zone: string, told: readonly ToldRecord[]): RegistrarRecord[] {
  return told.flatMap((record) => {
    const { id, type, value, ttl, distance } = record
    if (!isKnown(type)) return []
    const host = hostOf(zone, record.host)
    if (host === undefined || (type === 'NS' && host === '@')) return []
    const given = { type, host, value, ttl, distance: type === 'MX' || type === 'SRV' ? distance : null }
    return [{ ...normalised(zone, given), id }]
  })
}

/** The text of a TXT record as registrars take it: what begins with a quote is read as character strings, and ends are trimmed. */
export function sentValue({ type, value }: DnsRecordData): string {
  return type === 'TXT' && (value.startsWith('"') || value.trim() !== value) ? quotedText(value) : value
}

/** @throws RegistrarFailure `unsupported` */
export function needType({ title, recordTypes }: Pick<Registrar, 'title' | 'recordTypes'>, type: DnsRecordType): void {
  if (recordTypes.includes(type)) return
  throw new RegistrarFailure('unsupported', `${title} takes no ${type} records through its API.`)
}

function isKnown(type: string): type is DnsRecordType {
  return dnsRecordTypes.some((it) => it === type)
}

function hostOf(zone: string, told: string): string | undefined {
  try {
    return normalHost(zone, told)
  } catch {
    return undefined
  }
}

/** What does not keep our rules, such as a longer TTL, is shown as it stands there. */
function normalised(zone: string, record: DnsRecordData): DnsRecordData {
  try {
    return { ...normalRecord(zone, { ...record, ttl: 3_600 }), ttl: record.ttl }
  } catch {
    return record
  }
}
