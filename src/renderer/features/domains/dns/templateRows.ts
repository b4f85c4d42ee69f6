import { type DnsRecordData, DnsRecordError, normalizeRecord } from '#shared/dns/dnsRecord.ts'
import { findZoneConflict } from '#shared/dns/zoneRules.ts'
import type { RecordTemplate } from './recordTemplates.ts'

/**
 * `exists` means that the zone already contains the record. `blocked` means that it cannot be added; `note` contains
 * the reason.
 */
export type TemplateRow = { record: DnsRecordData; state: 'new' | 'exists' | 'blocked'; note?: string }

type TemplateInput = {
  template: RecordTemplate
  written: Readonly<Record<string, string>>
  /** Records of the zone, including unsaved changes. */
  present: readonly DnsRecordData[]
}

/** Returns the records that a template adds to a zone, or the invalid field. */
export function buildTemplateRows(
  zone: string,
  { template, written, present }: TemplateInput,
): { rows: TemplateRow[]; fault?: { field: string; message: string } } {
  const trimmed = Object.fromEntries(Object.entries(written).map(([id, value]) => [id, value.trim()]))
  const missing = template.fields.find(({ id, optional }) => !optional && !trimmed[id])
  if (missing) {
    const { id, label } = missing
    const what = /^[A-Z][a-z]/.test(label) ? label.charAt(0).toLowerCase() + label.slice(1) : label
    return { rows: [], fault: { field: id, message: `Enter the ${what}.` } }
  }
  const rows: TemplateRow[] = []
  for (const templateRecord of template.records(zone, trimmed)) {
    try {
      const record = normalizeRecord(zone, templateRecord)
      const others = [...present, ...rows.filter(({ state }) => state === 'new').map((it) => it.record)]
      rows.push(toTemplateRow(record, others))
    } catch (fault) {
      if (!(fault instanceof DnsRecordError)) throw fault
      return {
        rows: [],
        fault: { field: findFaultyField(template, trimmed, templateRecord), message: toSentence(fault) },
      }
    }
  }
  return { rows }
}

function toTemplateRow(record: DnsRecordData, others: readonly DnsRecordData[]): TemplateRow {
  const conflict = findZoneConflict(others, record)
  if (conflict?.reason === 'duplicate') return { record, state: 'exists' }
  if (conflict) return { record, state: 'blocked', note: `A ${conflict.with.type} record with this name exists.` }
  // Multiple SPF records at one name are an error: https://www.rfc-editor.org/rfc/rfc7208#section-3.2
  const hasSpf = isSpf(record) && others.some((other) => isSpf(other) && other.host === record.host)
  if (!hasSpf) return { record, state: 'new' }
  const include = /\binclude:\S+/.exec(record.value)?.[0]
  const remedy = include === undefined ? 'change it instead' : `add “${include}” to it`
  return { record, state: 'blocked', note: `Another SPF record exists: ${remedy}.` }
}

function isSpf({ type, value }: DnsRecordData): boolean {
  return type === 'TXT' && /^v=spf1( |$)/i.test(value)
}

/** Returns the error of the field whose value caused it. */
function findFaultyField(
  { fields }: RecordTemplate,
  values: Readonly<Record<string, string>>,
  { host, value }: { host: string; value: string },
): string {
  const named = fields.find(({ id }) => values[id] && (value.includes(values[id]) || host === values[id]))
  return named?.id ?? fields[0]?.id ?? ''
}

function toSentence(fault: DnsRecordError): string {
  const words = fault.message.replace(/^`\w+` /, '').replaceAll('`', '')
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`
}
