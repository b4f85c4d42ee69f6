import type { AccountId, SandboxId } from '#shared/ids.ts'
import type { ActivityLog } from '../activity/activityLog.ts'
import type { OrphanedDomain, OrphanedDomainRepository } from './orphanedDomainRepository.ts'
import type { RegistrarRecord } from './registrars/registrar.ts'
import type { Zones } from './zones.ts'

type Zone = { accountId: AccountId; name: string }

/**
 * Domains whose DNS records still point to this service for a deleted sandbox. The records are removed only on request.
 */
export type OrphanedDomains = {
  /** Lists the orphaned domains of an account from the database, without reading zones. */
  list(accountId: AccountId): OrphanedDomain[]
  /**
   * Lists orphaned records of a zone. Names without such records are no longer orphaned.
   * @throws AppError as `Zones.list`
   */
  records(zone: Zone): Promise<RegistrarRecord[]>
  /**
   * @returns the removed records
   * @throws AppError as `Zones.remove`
   */
  removeRecords(zone: Zone): Promise<RegistrarRecord[]>
  /** Records in the activity log which domains still point to a deleted sandbox. */
  sandboxRemoved(id: SandboxId): void
}

export function createOrphanedDomains(options: {
  records: OrphanedDomainRepository
  zones: Pick<Zones, 'list' | 'remove'>
  /** Addresses of this service. */
  addresses: () => Promise<readonly { type: string; value: string }[]>
  /**
   * Public host name of sandboxes, which a CNAME record may contain. Undefined if the service is reached on this
   * computer.
   */
  sandboxHost: string | undefined
  ownsDomain: (accountId: AccountId, domain: string) => boolean
  recordForAccount: ActivityLog['recordForAccount']
  onChanged: (accountId: AccountId) => void
}): OrphanedDomains {
  const { records, zones, addresses, sandboxHost, ownsDomain, recordForAccount, onChanged } = options

  const under = ({ accountId, name }: Zone): OrphanedDomain[] => listNamesUnder(name, records.list(accountId))

  const read = async (zone: Zone, fresh: boolean): Promise<RegistrarRecord[]> => {
    const names = under(zone)
    if (names.length === 0) return []
    const ownAddresses = await addresses()
    const { records: present } = await zones.list(zone, { fresh })
    const pointsHere = ({ type, value }: RegistrarRecord): boolean =>
      ownAddresses.some((address) => address.type === type && address.value === value) ||
      (type === 'CNAME' && sandboxHost !== undefined && value.replace(/\.$/, '').toLowerCase() === sandboxHost)
    const orphaned: RegistrarRecord[] = []
    for (const { domain } of names) {
      const host = findHost(zone.name, domain)
      const pointing = present.filter((record) => record.host === host && pointsHere(record))
      if (pointing.length === 0) records.remove(domain)
      orphaned.push(...pointing)
    }
    return orphaned
  }

  return {
    list: records.list,
    records: (zone) => read(zone, false),
    async removeRecords(zone) {
      const removed: RegistrarRecord[] = []
      for (const record of await read(zone, true)) {
        // In the meantime, the domain may have been added to another sandbox.
        if (!under(zone).some(({ domain }) => findHost(zone.name, domain) === record.host)) continue
        await zones.remove(zone, record.id)
        removed.push(record)
      }
      for (const { domain } of under(zone)) {
        if (removed.some(({ host }) => host === findHost(zone.name, domain))) records.remove(domain)
      }
      return removed
    },
    sandboxRemoved(id) {
      const accounts = new Set<AccountId>()
      for (const { domain, sandboxName, accountId } of records.ofSandbox(id)) {
        if (!ownsDomain(accountId, domain)) {
          records.remove(domain) // an external DNS provider hosts the zone
          continue
        }
        const description = `Left DNS records of ${domain} that point to the deleted sandbox ${sandboxName}`
        recordForAccount(accountId, { type: 'dns.changed', domain, description })
        accounts.add(accountId)
      }
      for (const accountId of accounts) onChanged(accountId)
    },
  }
}

export function listNamesUnder(zone: string, names: readonly OrphanedDomain[]): OrphanedDomain[] {
  return names.filter(({ domain }) => findHost(zone, domain) !== undefined)
}

/**
 * Returns the host of a name within a zone, `@` for the zone apex.
 * @returns undefined if the name is outside the zone
 */
function findHost(zone: string, domain: string): string | undefined {
  if (domain === zone) return '@'
  return domain.endsWith(`.${zone}`) ? domain.slice(0, -zone.length - 1) : undefined
}
