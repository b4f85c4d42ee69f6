import { createHash } from 'node:crypto'
import { keyedQueue } from '#platform/keyedQueue.ts'
import { AppError } from '#shared/appError.ts'
import {
  type DnsRecordData,
  DnsRecordFault,
  dnsLimits,
  type NewDnsRecord,
  normalRecord,
} from '#shared/dns/dnsRecord.ts'
import { zoneConflict } from '#shared/dns/zoneRules.ts'
import type { AccountId } from '#shared/ids.ts'
import type { DomainRepository, ZoneRow } from './domainRepository.ts'
import type { Domains, Source } from './domains.ts'
import { told } from './registrarErrors.ts'
import { type Registrar, RegistrarFailure, type RegistrarRecord } from './registrars/registrar.ts'

export type KnownZone = ZoneRow & { source: Source; hash: string }
type Of = { accountId: AccountId; name: string }
export type RecordChange = { [K in 'host' | 'value' | 'ttl' | 'distance']?: NewDnsRecord[K] | undefined }

/** DNS records of domains. Every call: @throws AppError `domain/not-found`, `domain/registrar` */
export type Zones = {
  /** Those read within two minutes, unless `fresh`. A registrar that is down serves what was read last. */
  list(of: Of, options: { fresh: boolean }): Promise<KnownZone>
  /** @throws AppError `request/invalid`, `dns/conflict`, `dns/too-many` */
  add(of: Of, record: NewDnsRecord): Promise<RegistrarRecord>
  /** What is not given stays. @throws AppError `dns/not-found`, `request/invalid`, `dns/conflict` */
  change(of: Of, id: string, change: RecordChange): Promise<RegistrarRecord>
  /**
   * @returns the record as it was
   * @throws AppError `dns/not-found`
   */
  remove(of: Of, id: string): Promise<RegistrarRecord>
}

const freshMs = 2 * 60_000

export function zones(options: {
  records: DomainRepository
  domains: Pick<Domains, 'owned'>
  registrar: Registrar
  now: () => number
  onChanged: (of: Of) => void
}): Zones {
  const { records, domains, registrar, now, onChanged } = options
  const queue = keyedQueue()

  const read = async (name: string): Promise<ZoneRow> => {
    const zone = { records: await registrar.records(name), readAtMs: now() }
    records.keepZone(name, zone)
    return zone
  }
  /** One change of a zone at a time, each decided on what the registrar says then. */
  const changed = <T>(of: Of, work: (present: readonly RegistrarRecord[]) => Promise<T>): Promise<T> => {
    domains.owned(of.accountId, of.name)
    return queue.run(of.name, async () => {
      const { records: present } = await told(read(of.name))
      try {
        return await told(work(present))
      } finally {
        // Whatever came of it: what was read before may be another now.
        records.removeZone(of.name)
        onChanged(of)
      }
    })
  }
  /** @param after what was done, as the records tell of a change without an answer; undefined: it is not in them */
  const settled = async <T>(
    name: string,
    work: Promise<T>,
    after: (records: readonly RegistrarRecord[]) => T | undefined,
  ): Promise<T> => {
    try {
      return await work
    } catch (failure) {
      if (!(failure instanceof RegistrarFailure) || failure.kind !== 'unclear') throw failure
      const done = await registrar.records(name).then(after, () => undefined)
      if (done !== undefined) return done
      throw unclear(registrar.title, name, failure)
    }
  }
  const fitting = (of: Of, others: readonly RegistrarRecord[], given: NewDnsRecord): DnsRecordData => {
    const record = normal(of.name, given)
    const conflict = zoneConflict(others, record)
    if (!conflict) return record
    const { host, type } = conflict.with
    const what = conflict.reason === 'duplicate' ? 'The same record is there already' : `${host} has a ${type} record`
    const why = conflict.reason === 'duplicate' ? '' : ', and a CNAME stands alone'
    throw new AppError('dns/conflict', `${what}${why}.`)
  }
  const found = (present: readonly RegistrarRecord[], id: string): RegistrarRecord => {
    const record = present.find((it) => it.id === id)
    if (record) return record
    throw new AppError('dns/not-found', `There is no DNS record ${id}.`)
  }

  return {
    async list({ accountId, name }, { fresh }) {
      domains.owned(accountId, name)
      const kept = records.findZone(name)
      if (kept && !fresh && now() - kept.readAtMs <= freshMs)
        return { ...kept, source: 'cache', hash: zoneHash(kept.records) }
      try {
        const zone = await told(read(name))
        return { ...zone, source: 'live', hash: zoneHash(zone.records) }
      } catch (failure) {
        const isDown = failure instanceof AppError && failure.code === 'domain/registrar'
        if (!kept || fresh || !isDown) throw failure
        return { ...kept, source: 'stale', hash: zoneHash(kept.records) }
      }
    },
    add: (of, given) =>
      changed(of, async (present) => {
        if (present.length >= dnsLimits.records) {
          throw new AppError('dns/too-many', `${of.name} has ${present.length} DNS records, the most allowed.`)
        }
        const record = fitting(of, present, given)
        const isNew = ({ id }: RegistrarRecord) => present.every((it) => it.id !== id)
        const id = await settled(
          of.name,
          registrar.addRecord(of.name, record),
          (records) => records.find((it) => isNew(it) && isEqual(it, record))?.id,
        )
        return { ...record, id }
      }),
    change: (of, id, change) =>
      changed(of, async (present) => {
        const before = found(present, id)
        const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined))
        const record = fitting(
          of,
          present.filter((it) => it.id !== id),
          { ...before, ...given },
        )
        const others = present.filter((it) => it.id !== id)
        const isChanged = (it: RegistrarRecord) => isEqual(it, record) && others.every((other) => other.id !== it.id)
        const newId = await settled(
          of.name,
          registrar.changeRecord(of.name, id, record),
          (records) => records.find(isChanged)?.id,
        )
        return { ...record, id: newId }
      }),
    remove: (of, id) =>
      changed(of, async (present) => {
        const record = found(present, id)
        const removed = registrar.removeRecord(of.name, id).then(() => true)
        await settled(of.name, removed, (records) => records.every((it) => it.id !== id) || undefined)
        return record
      }),
  }
}

function normal(zone: string, given: NewDnsRecord): DnsRecordData {
  try {
    return normalRecord(zone, given)
  } catch (fault) {
    throw fault instanceof DnsRecordFault ? wrongRecord(fault) : fault
  }
}

function wrongRecord(fault: DnsRecordFault): AppError {
  return new AppError('request/invalid', fault.message, { cause: fault })
}

function isEqual(one: DnsRecordData, other: DnsRecordData): boolean {
  return zoneHash([one]) === zoneHash([other])
}

/** The same for the same records, in whatever order and under whatever ids. */
export function zoneHash(records: readonly DnsRecordData[]): string {
  const lines = records.map(({ type, host, value, ttl, distance }) =>
    JSON.stringify([type, host, value, ttl, distance]),
  )
  return createHash('sha256').update(lines.sort().join('\n')).digest('hex')
}

function unclear(title: string, name: string, cause: unknown): AppError {
  return new AppError('dns/unclear', `${title} did not say whether it changed ${name}.`, { cause })
}
