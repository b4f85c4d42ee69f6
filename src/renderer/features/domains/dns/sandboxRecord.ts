import type { SandboxDomain } from '#shared/contract/sandboxDomains.ts'
import { type DnsRecordData, normalizeRecord } from '#shared/dns/dnsRecord.ts'
import { buildZoneRows, removeRecord, type ZoneEdits } from './zoneEdits.ts'

/**
 * Creates the record that points a name to a sandbox. The zone apex allows no CNAME, and a service without a public
 * address is reached on this computer.
 */
export function createSandboxRecord(
  zone: string,
  host: string,
  { dns_target: target }: Pick<SandboxDomain, 'dns_target'>,
) {
  if (target === null) return normalizeRecord(zone, { type: 'A', host, value: '127.0.0.1' })
  return normalizeRecord(zone, { type: 'CNAME', host, value: target })
}

/** Removes the record that pointed the name to its sandbox. Other addresses of the name remain. */
export function removeSandboxRecord(
  zone: string,
  { records, edits }: { records: Parameters<typeof buildZoneRows>[0]; edits: ZoneEdits },
  name: Pick<SandboxDomain, 'domain' | 'dns_target'>,
): ZoneEdits {
  const host = name.domain === zone ? '@' : name.domain.slice(0, -zone.length - 1)
  const { type, value } = createSandboxRecord(zone, host, name)
  const isIt = (record: DnsRecordData) => record.type === type && record.host === host && record.value === value
  return buildZoneRows(records, edits)
    .filter(({ state, record }) => state !== 'removed' && isIt(record))
    .reduce((next, { key }) => removeRecord(next, key), edits)
}
