import type { Answer } from 'dns-packet'
import { type DnsRecordData, type DnsRecordType, normalizeRecord } from '#shared/dns/dnsRecord.ts'
import { decodeUtf8 } from '#shared/utf8.ts'

/** Maximum number of values per name and type that are compared. */
export const maxValues = 20
const maxValueLength = 4_200

/** Formats a value as in a zone file, with the priority of MX and SRV records first, so that values can be compared. */
export function toZoneValue({ value, distance }: Pick<DnsRecordData, 'value' | 'distance'>): string {
  return distance === null ? value : `${distance} ${value}`
}

/**
 * Normalizes a value of a response. Responses are untrusted, so control characters are replaced and lengths are
 * bounded.
 * @returns undefined for another record type
 */
export function normalizeDnsValue(
  zone: string,
  answer: Answer,
): { type: DnsRecordType; value: string; ttl: number } | undefined {
  const read = readAnswer(answer)
  if (!read) return undefined
  const { type, value, distance } = read
  const ttl = 'ttl' in answer && typeof answer.ttl === 'number' ? answer.ttl : 0
  return { type, ttl, value: toZoneValue({ value: normalizeValue(zone, type, value), distance }) }
}

type Read = { type: DnsRecordType; value: string; distance: number | null }

function readAnswer(answer: Answer): Read | undefined {
  switch (answer.type) {
    case 'A':
    case 'AAAA':
    case 'CNAME':
    case 'NS':
      return { type: answer.type, value: answer.data, distance: null }
    case 'MX':
      return { type: 'MX', value: answer.data.exchange, distance: answer.data.preference ?? 0 }
    case 'TXT': {
      const pieces = [answer.data].flat().map((it) => Buffer.from(it))
      const bytes = Buffer.concat(pieces)
      return { type: 'TXT', value: decodeUtf8([...bytes]) ?? bytes.toString('latin1'), distance: null }
    }
    case 'SRV': {
      const { priority = 0, weight = 0, port, target } = answer.data
      return { type: 'SRV', value: `${weight} ${port} ${target}`, distance: priority }
    }
    case 'CAA': {
      const { flags = 0, tag, value } = answer.data
      return { type: 'CAA', value: `${flags} ${tag} "${value}"`, distance: null }
    }
    default:
      return undefined
  }
}

function normalizeValue(zone: string, type: DnsRecordType, value: string): string {
  try {
    // Any host that is valid for the type.
    const host = type === 'SRV' ? '_x._tcp' : 'x'
    // A leading quote of a TXT value is content, not zone file syntax.
    return type === 'TXT' ? formatValue(value) : normalizeRecord(zone, { type, host, value }).value
  } catch {
    return formatValue(value)
  }
}

function formatValue(value: string): string {
  return value.replaceAll(/[\p{Cc}\p{Cs}]/gu, '\uFFFD').slice(0, maxValueLength)
}
