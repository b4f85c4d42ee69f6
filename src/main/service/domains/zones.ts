import { createHash } from 'node:crypto'
import { createKeyedQueue } from '#platform/concurrency/keyedQueue.ts'
import { AppError } from '#shared/appError.ts'
import {
  type DnsRecordData,
  DnsRecordError,
  dnsLimits,
  type NewDnsRecord,
  normalizeRecord,
} from '#shared/dns/dnsRecord.ts'
import { findZoneConflict } from '#shared/dns/zoneRules.ts'
import type { AccountId } from '#shared/ids.ts'
import type { Store } from '#storage/store.ts'
import type { DomainRepository, ZoneRow } from './domainRepository.ts'
import type { Domains, Source } from './domains.ts'
import { mapRegistrarErrors } from './registrarErrors.ts'
import { type Registrar, RegistrarError, type RegistrarRecord } from './registrars/registrar.ts'

export type CachedZone = ZoneRow & { source: Source; hash: string }
type ZoneRef = { accountId: AccountId; name: string }
export type RecordChange = { [K in 'host' | 'value' | 'ttl' | 'distance']?: NewDnsRecord[K] | undefined }

/** DNS records of domains. @throws AppError `domain/not-found`, `domain/registrar` from every method */
export type Zones = {
  /**
   * Lists records, cached for two minutes unless `fresh`. While the registrar is unreachable, returns the last known
   * ones.
   */
  list(target: ZoneRef, options: { fresh: boolean }): Promise<CachedZone>
  /** @throws AppError `request/invalid`, `dns/conflict`, `dns/too-many` */
  add(target: ZoneRef, record: NewDnsRecord): Promise<RegistrarRecord>
  /** Changes the fields that are set. @throws AppError `dns/not-found`, `request/invalid`, `dns/conflict` */
  change(target: ZoneRef, id: string, change: RecordChange): Promise<RegistrarRecord>
  /**
   * @returns the removed record
   * @throws AppError `dns/not-found`
   */
  remove(target: ZoneRef, id: string): Promise<RegistrarRecord>
}

const freshMs = 2 * 60_000

export function createZones(options: {
  store: Store
  records: DomainRepository
  domains: Pick<Domains, 'requireOwned'>
  registrar: Registrar
  now: () => number
  onChanged: (target: ZoneRef) => void
  /** Called with the id of each removed record. */
  onRemoved: (name: string, id: string) => Promise<void>
}): Zones {
  const { store, records, domains, registrar, now, onChanged, onRemoved } = options
  const queue = createKeyedQueue()
  /** Number of changes that began or ended, by zone. */
  const revisions = new Map<string, number>()
  const getRevision = (name: string): number => revisions.get(name) ?? 0
  const increment = (name: string): void => void revisions.set(name, getRevision(name) + 1)

  const read = async (name: string): Promise<ZoneRow> => {
    const revision = getRevision(name)
    const zone = { records: await registrar.records(name), readAtMs: now() }
    // Records that were read before a change are not cached.
    await store.write(async (tx) => {
      if (getRevision(name) === revision) await records.saveZone(tx, name, zone)
    })
    return zone
  }
  /** Changes of a zone run one at a time, each based on the registrar's current records. */
  const changeZone = async <T>(
    target: ZoneRef,
    work: (present: readonly RegistrarRecord[]) => Promise<T>,
  ): Promise<T> => {
    const { name } = target
    await domains.requireOwned(target.accountId, name)
    return queue.run(name, async () => {
      const present = await mapRegistrarErrors(registrar.records(name))
      increment(name)
      try {
        return await mapRegistrarErrors(work(present))
      } finally {
        // Drops the cache regardless of the outcome, because records may have changed.
        increment(name)
        await store.write((tx) => records.removeZone(tx, name))
        onChanged(target)
      }
    })
  }

  return {
    async list({ accountId, name }, { fresh }) {
      await domains.requireOwned(accountId, name)
      const cached = await records.findZone(store.read, name)
      if (cached && !fresh && now() - cached.readAtMs <= freshMs)
        return { ...cached, source: 'cache', hash: hashZone(cached.records) }
      try {
        const zone = await mapRegistrarErrors(read(name))
        return { ...zone, source: 'live', hash: hashZone(zone.records) }
      } catch (error) {
        const isDown = error instanceof AppError && error.code === 'domain/registrar'
        if (!cached || fresh || !isDown) throw error
        return { ...cached, source: 'stale', hash: hashZone(cached.records) }
      }
    },
    add: (target, input) =>
      changeZone(target, async (present) => {
        if (present.length >= dnsLimits.records) {
          throw new AppError('dns/too-many', `${target.name} has ${present.length} DNS records, which is the maximum.`)
        }
        const record = requireValidRecord(target.name, present, input)
        const isNew = ({ id }: RegistrarRecord) => present.every((it) => it.id !== id)
        const id = await settleChange(registrar, target.name, {
          work: registrar.addRecord(target.name, record),
          after: (records) =>
            records.find((registrarRecord) => isNew(registrarRecord) && isEqual(registrarRecord, record))?.id,
        })
        return { ...record, id }
      }),
    change: (target, id, change) =>
      changeZone(target, async (present) => {
        const before = requireRecord(present, id)
        const defined = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined))
        const record = requireValidRecord(
          target.name,
          present.filter((it) => it.id !== id),
          { ...before, ...defined },
        )
        const others = present.filter((it) => it.id !== id)
        const isChanged = (candidate: RegistrarRecord) =>
          isEqual(candidate, record) && others.every((sibling) => sibling.id !== candidate.id)
        const newId = await settleChange(registrar, target.name, {
          work: registrar.changeRecord(target.name, id, record),
          after: (records) => records.find(isChanged)?.id,
        })
        return { ...record, id: newId }
      }),
    remove: (target, id) =>
      changeZone(target, async (present) => {
        const record = requireRecord(present, id)
        await settleChange(registrar, target.name, {
          work: registrar.removeRecord(target.name, id).then(() => true),
          after: (records) => records.every((it) => it.id !== id) || undefined,
        })
        await onRemoved(target.name, id)
        return record
      }),
  }
}

/**
 * @param after determines the outcome of an unconfirmed change from the records; returns undefined if it was not made
 */
async function settleChange<T>(
  registrar: Registrar,
  name: string,
  { work, after }: { work: Promise<T>; after: (records: readonly RegistrarRecord[]) => T | undefined },
): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof RegistrarError) || error.kind !== 'unclear') throw error
    const done = await registrar.records(name).then(after, () => undefined)
    if (done !== undefined) return done
    throw createUnknownChangeError(registrar.title, name, error)
  }
}

/** @throws AppError `request/invalid`, `dns/conflict` */
function requireValidRecord(zone: string, others: readonly RegistrarRecord[], input: NewDnsRecord): DnsRecordData {
  const record = toValidRecord(zone, input)
  const conflict = findZoneConflict(others, record)
  if (!conflict) return record
  const { host, type } = conflict.with
  const problem = conflict.reason === 'duplicate' ? 'This record already exists' : `${host} has a ${type} record`
  const why = conflict.reason === 'duplicate' ? '' : ', and a CNAME cannot coexist with other records'
  throw new AppError('dns/conflict', `${problem}${why}.`)
}

function requireRecord(present: readonly RegistrarRecord[], id: string): RegistrarRecord {
  const record = present.find((it) => it.id === id)
  if (record) return record
  throw new AppError('dns/not-found', `There is no DNS record ${id}.`)
}

function toValidRecord(zone: string, record: NewDnsRecord): DnsRecordData {
  try {
    return normalizeRecord(zone, record)
  } catch (fault) {
    throw fault instanceof DnsRecordError ? createInvalidRecordError(fault) : fault
  }
}

function createInvalidRecordError(fault: DnsRecordError): AppError {
  return new AppError('request/invalid', fault.message, { cause: fault })
}

function isEqual(a: DnsRecordData, b: DnsRecordData): boolean {
  return hashZone([a]) === hashZone([b])
}

/** Returns the same hash for the same records, regardless of their order and ids. */
export function hashZone(records: readonly DnsRecordData[]): string {
  const lines = records.map(({ type, host, value, ttl, distance }) =>
    JSON.stringify([type, host, value, ttl, distance]),
  )
  return createHash('sha256').update(lines.sort().join('\n')).digest('hex')
}

function createUnknownChangeError(title: string, name: string, cause: unknown): AppError {
  return new AppError('dns/unknown-outcome', `${title} did not report whether it changed ${name}.`, { cause })
}
