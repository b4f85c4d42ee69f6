import type { DnsRecordData } from '#shared/dns/dnsRecord.ts'
import type { Database } from '#storage/sqlite/openDatabase.ts'
import {
  defineTable,
  flag,
  json,
  nullable,
  number,
  type Params,
  type RowOf,
  type StoredRow,
  text,
} from '#storage/table.ts'
import type { RegistrarRecord } from '../registrar.ts'
import type { Zone } from './dns/zoneAnswer.ts'

const domains = defineTable('registry_domains', {
  name: text(),
  registeredAtMs: number(),
  /** End of the pending state after registration. */
  activeAtMs: number(),
  expiresAtMs: number(),
  privacy: flag(),
  locked: flag(),
  nameservers: json<readonly string[]>(),
  /** Serial number of the zone. Never decreases. */
  serial: number(),
})
const zoneRecords = defineTable('registry_records', {
  id: text(),
  type: text<DnsRecordData['type']>(),
  host: text(),
  value: text(),
  ttl: number(),
  distance: nullable(number()),
})
export type RegistryDomain = RowOf<typeof domains>
type ZoneRecord = RowOf<typeof zoneRecords>

export type RegistryRepository = {
  find(name: string): RegistryDomain | undefined
  /** @returns false if the name is already registered */
  add(domain: RegistryDomain): boolean
  change(name: string, changes: Partial<Omit<RegistryDomain, 'name' | 'serial'>>): void
  /** Sorted by insertion order. */
  records(name: string): RegistrarRecord[]
  addRecord(name: string, record: RegistrarRecord): void
  /** @returns false if the record does not exist */
  changeRecord(name: string, record: RegistrarRecord): boolean
  removeRecord(name: string, id: string): boolean
  /** Finds the zone that contains a name. */
  findZone(name: string): Zone | undefined
}

export function createRegistryRepository(database: Database): RegistryRepository {
  const find = database.prepare<[Params<'name'>], StoredRow>(
    `SELECT ${domains.selection()} FROM registry_domains WHERE name = @name`,
  )
  const add = database.prepare<[Params<keyof RegistryDomain>]>(`${domains.insert} ON CONFLICT (name) DO NOTHING`)
  const changeable = ['activeAtMs', 'expiresAtMs', 'privacy', 'locked', 'nameservers'] as const
  const change = database.prepare<[Params<'name' | (typeof changeable)[number]>]>(
    `UPDATE registry_domains SET ${domains.assignments(changeable)}, serial = serial + 1 WHERE name = @name`,
  )
  const listRecords = database.prepare<[Params<'domain'>], StoredRow>(
    `SELECT ${zoneRecords.selection()} FROM registry_records WHERE domain = @domain ORDER BY sequence, id`,
  )
  const addRecord = database.prepare<[Params<'domain' | keyof ZoneRecord>]>(
    zoneRecords.insertWith({
      domain: '@domain',
      sequence: '(SELECT coalesce(max(sequence), 0) + 1 FROM registry_records WHERE domain = @domain)',
    }),
  )
  const changeRecord = database.prepare<[Params<'domain' | keyof ZoneRecord>]>(
    `UPDATE registry_records SET ${zoneRecords.assignments(['type', 'host', 'value', 'ttl', 'distance'])}
     WHERE id = @id AND domain = @domain`,
  )
  const removeRecord = database.prepare<[Params<'id' | 'domain'>]>(
    'DELETE FROM registry_records WHERE id = @id AND domain = @domain',
  )
  const incrementSerial = database.prepare<[Params<'name'>]>(
    'UPDATE registry_domains SET serial = serial + 1 WHERE name = @name',
  )

  const findDomain = (name: string): RegistryDomain | undefined => {
    const row = find.get({ name })
    return row && domains.fromRow(row)
  }
  const listZoneRecords = (domain: string): RegistrarRecord[] => listRecords.all({ domain }).map(zoneRecords.fromRow)
  const toParams = (domain: string, { id, type, host, value, ttl, distance }: RegistrarRecord) => ({
    ...zoneRecords.params({ id, type, host, value, ttl, distance }),
    domain,
  })
  /** Increments the serial number with each change of the zone. @returns whether `work` changed rows */
  const changeZone = (name: string, work: () => number): boolean =>
    database.transaction(() => {
      const isChanged = work() > 0
      if (isChanged) incrementSerial.run({ name })
      return isChanged
    })()

  return {
    find: findDomain,
    add: (domain) => add.run(domains.params(domain)).changes > 0,
    change(name, changes) {
      const domain = findDomain(name)
      if (domain) change.run(domains.params({ ...domain, ...changes, name }))
    },
    records: listZoneRecords,
    addRecord(name, record) {
      changeZone(name, () => addRecord.run(toParams(name, record)).changes)
    },
    changeRecord: (name, record) => changeZone(name, () => changeRecord.run(toParams(name, record)).changes),
    removeRecord: (name, id) => changeZone(name, () => removeRecord.run({ id, domain: name }).changes),
    findZone(name) {
      const labels = name.split('.')
      for (let from = 0; from < labels.length; from += 1) {
        const domain = findDomain(labels.slice(from).join('.'))
        if (domain) return { ...domain, records: listZoneRecords(domain.name) }
      }
      return undefined
    },
  }
}
