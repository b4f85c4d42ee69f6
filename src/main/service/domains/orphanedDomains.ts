import type { AccountId, SandboxId } from '#shared/ids.ts'
import type { Query, Store } from '#storage/store.ts'
import type { ActivityLog } from '../activity/activityLog.ts'
import { type OrphanedDomain, orphanedDomainRepository } from './orphanedDomainRepository.ts'
import type { RegistrarRecord } from './registrars/registrar.ts'
import type { Zones } from './zones.ts'

type Zone = { accountId: AccountId; name: string }

/**
 * Domains whose DNS records still point to this service for a deleted sandbox. The records are removed only on request.
 */
export type OrphanedDomains = {
  /** Lists the orphaned domains of an account from the database, without reading zones. */
  list(accountId: AccountId): Promise<OrphanedDomain[]>
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
  sandboxRemoved(accountId: AccountId, id: SandboxId): Promise<void>
}

export function createOrphanedDomains(options: {
  store: Store
  zones: Pick<Zones, 'list' | 'remove'>
  /** Addresses of this service. */
  addresses: () => Promise<readonly { type: string; value: string }[]>
  /**
   * Public host name of sandboxes, which a CNAME record may contain. Undefined if the service is reached on this
   * computer.
   */
  sandboxHost: string | undefined
  ownsDomain: (query: Query, accountId: AccountId, domain: string) => Promise<boolean>
  recordForAccount: ActivityLog['recordForAccount']
  onChanged: (accountId: AccountId) => void
}): OrphanedDomains {
  const { store, zones, addresses, sandboxHost, ownsDomain, recordForAccount, onChanged } = options

  const records = orphanedDomainRepository
  const listUnder = async (query: Query, { accountId, name }: Zone): Promise<OrphanedDomain[]> =>
    listNamesUnder(name, await records.list(query, accountId))

  const removeAll = async (names: readonly OrphanedDomain[]): Promise<void> => {
    if (names.length === 0) return
    await store.write(async (tx) => {
      for (const name of names) await records.remove(tx, name)
    })
  }
  const read = async (zone: Zone, fresh: boolean): Promise<RegistrarRecord[]> => {
    const names = await listUnder(store.read, zone)
    if (names.length === 0) return []
    const ownAddresses = await addresses()
    const { records: present } = await zones.list(zone, { fresh })
    const pointsHere = ({ type, value }: RegistrarRecord): boolean =>
      ownAddresses.some((address) => address.type === type && address.value === value) ||
      (type === 'CNAME' && sandboxHost !== undefined && value.replace(/\.$/, '').toLowerCase() === sandboxHost)
    const orphaned: RegistrarRecord[] = []
    const cleared: OrphanedDomain[] = []
    for (const name of names) {
      const host = findHost(zone.name, name.domain)
      const pointing = present.filter((record) => record.host === host && pointsHere(record))
      if (pointing.length === 0) cleared.push(name)
      orphaned.push(...pointing)
    }
    await removeAll(cleared)
    return orphaned
  }

  return {
    list: (accountId) => records.list(store.read, accountId),
    records: (zone) => read(zone, false),
    async removeRecords(zone) {
      const removed: RegistrarRecord[] = []
      for (const record of await read(zone, true)) {
        // In the meantime, the domain may have been added to another sandbox.
        const names = await listUnder(store.read, zone)
        if (!names.some(({ domain }) => findHost(zone.name, domain) === record.host)) continue
        await zones.remove(zone, record.id)
        removed.push(record)
      }
      const names = await listUnder(store.read, zone)
      await removeAll(names.filter(({ domain }) => removed.some(({ host }) => host === findHost(zone.name, domain))))
      return removed
    },
    async sandboxRemoved(accountId, id) {
      const owned = await store.write(async (tx) => {
        const owned: OrphanedDomain[] = []
        for (const name of await records.listOfSandbox(tx, accountId, id)) {
          if (await ownsDomain(tx, accountId, name.domain)) owned.push(name)
          else await records.remove(tx, name) // an external DNS provider hosts the zone
        }
        return owned
      })
      for (const { domain, sandboxName } of owned) {
        const description = `Left DNS records of ${domain} that point to the deleted sandbox ${sandboxName}`
        recordForAccount(accountId, { type: 'dns.changed', domain, description })
      }
      if (owned.length > 0) onChanged(accountId)
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
