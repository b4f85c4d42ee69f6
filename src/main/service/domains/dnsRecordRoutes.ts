import type { z } from 'zod'
import {
  addDnsRecord,
  changeDnsRecord,
  type DnsRecord,
  listDnsRecords,
  listOrphanedRecords,
  removeDnsRecord,
  removeOrphanedRecords,
} from '#shared/contract/dnsRecords.ts'
import { toIsoTime } from '#shared/time.ts'
import type { ActivityLog } from '../activity/activityLog.ts'
import { createEndpoint, type Endpoint } from '../base/endpoint.ts'
import type { Domains } from './domains.ts'
import type { OrphanedDomain } from './orphanedDomainRepository.ts'
import { listNamesUnder, type OrphanedDomains } from './orphanedDomains.ts'
import type { RegistrarRecord } from './registrars/registrar.ts'
import type { Zones } from './zones.ts'

export type DnsRecordRouteOptions = {
  domains: Pick<Domains, 'requireOwned'>
  orphans: OrphanedDomains
  zones: Zones
  recordForAccount: ActivityLog['recordForAccount']
}

export function createDnsRecordRoutes(options: DnsRecordRouteOptions): Endpoint[] {
  const { domains, orphans, zones, recordForAccount } = options
  return [
    createEndpoint(listDnsRecords, async ({ params, query }, { caller: { accountId } }) => {
      const zone = await zones.list({ accountId, name: params.domain }, query)
      const { source, hash } = zone
      return { records: zone.records.map(recordToWire), source, as_of: toIsoTime(zone.readAtMs), hash }
    }),
    createEndpoint(addDnsRecord, async ({ params: { domain }, body }, { caller: { accountId } }) => {
      const record = await zones.add({ accountId, name: domain }, body)
      recordForAccount(accountId, {
        type: 'dns.changed',
        domain,
        description: `Added ${formatRecord(record)} to ${domain}`,
      })
      return recordToWire(record)
    }),
    createEndpoint(changeDnsRecord, async ({ params: { domain, recordId }, body }, { caller: { accountId } }) => {
      const record = await zones.change({ accountId, name: domain }, recordId, body)
      recordForAccount(accountId, {
        type: 'dns.changed',
        domain,
        description: `Changed ${formatRecord(record)} of ${domain}`,
      })
      return { success: true, ...recordToWire(record) }
    }),
    createEndpoint(removeDnsRecord, async ({ params: { domain, recordId } }, { caller: { accountId } }) => {
      const record = await zones.remove({ accountId, name: domain }, recordId)
      recordForAccount(accountId, {
        type: 'dns.changed',
        domain,
        description: `Deleted ${formatRecord(record)} of ${domain}`,
      })
      return { success: true, recordId }
    }),
    createEndpoint(listOrphanedRecords, async ({ params: { domain } }, { caller: { accountId } }) => {
      await domains.requireOwned(accountId, domain)
      const records = (await orphans.records({ accountId, name: domain })).map(recordToWire)
      return { names: listNamesUnder(domain, await orphans.list(accountId)).map(orphanToWire), records }
    }),
    createEndpoint(removeOrphanedRecords, async ({ params: { domain } }, { caller: { accountId } }) => {
      await domains.requireOwned(accountId, domain)
      const removed = await orphans.removeRecords({ accountId, name: domain })
      for (const record of removed) {
        const description = `Deleted ${formatRecord(record)} of ${domain}, which pointed to a deleted sandbox`
        recordForAccount(accountId, { type: 'dns.changed', domain, description })
      }
      return { success: true, removed: removed.map(recordToWire) }
    }),
  ]
}

export function orphanToWire({ domain, sandboxId, sandboxName }: OrphanedDomain) {
  return { name: domain, sandbox_id: sandboxId, sandbox_name: sandboxName }
}

function formatRecord({ type, host }: RegistrarRecord): string {
  return `${type} ${host}`
}

function recordToWire({ id, type, host, value, ttl, distance }: RegistrarRecord): z.infer<typeof DnsRecord> {
  return { recordId: id, id, record_id: id, type, host, value, ttl, ...(distance !== null && { distance }) }
}
