import type { DnsRecordData } from '#shared/dns/dnsRecord.ts'
import { defineStatement, type Query, type Transaction } from '#storage/store.ts'
import { defineTable, flag, json, nullable, number, type Params, type RowOf, text } from '#storage/table.ts'
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

const insert = defineStatement<Params<keyof RegistryDomain>>(`${domains.insert} ON CONFLICT (name) DO NOTHING`)
const find = defineStatement<Params<'name'>>(
  `SELECT ${domains.selection()} FROM registry_domains WHERE name = @name`,
).withRows(domains.fromRow)
const incrementSerial = defineStatement<Params<'name'>>(
  `UPDATE registry_domains SET serial = serial + 1 WHERE name = @name RETURNING ${domains.selection()}`,
).withRows(domains.fromRow)
const changeable = ['activeAtMs', 'expiresAtMs', 'privacy', 'locked', 'nameservers'] as const
const change = defineStatement<Params<'name' | (typeof changeable)[number]>>(
  `UPDATE registry_domains SET ${domains.assignments(changeable)} WHERE name = @name`,
)
const listRecords = defineStatement<Params<'domain'>>(
  `SELECT ${zoneRecords.selection()} FROM registry_records WHERE domain = @domain ORDER BY sequence, id`,
).withRows(zoneRecords.fromRow)
const insertRecord = defineStatement<Params<'domain' | keyof ZoneRecord>>(
  zoneRecords.insertWith({
    domain: '@domain',
    sequence: '(SELECT coalesce(max(sequence), 0) + 1 FROM registry_records WHERE domain = @domain)',
  }),
)
const changeRecord = defineStatement<Params<'domain' | keyof ZoneRecord>>(
  `UPDATE registry_records SET ${zoneRecords.assignments(['type', 'host', 'value', 'ttl', 'distance'])}
   WHERE id = @id AND domain = @domain`,
)
const removeRecord = defineStatement<Params<'id' | 'domain'>>(
  'DELETE FROM registry_records WHERE id = @id AND domain = @domain',
)
/** One statement, so that the records belong to the serial number. */
const findZone = defineStatement<Params<'name'>>(
  `SELECT ${domains.selection('d')}, ${zoneRecords.selection('r')} FROM registry_domains d
     LEFT JOIN registry_records r ON r.domain = d.name WHERE d.name = @name ORDER BY r.sequence, r.id`,
).withRows((row) => ({
  domain: domains.fromRow(row),
  record: row.id === null ? undefined : zoneRecords.fromRow(row),
}))

export const registryStatements = {
  ...{ insert, find, incrementSerial, change, findZone },
  ...{ listRecords, insertRecord, changeRecord, removeRecord },
}

const toParams = (domain: string, { id, type, host, value, ttl, distance }: RegistrarRecord) => ({
  ...zoneRecords.params({ id, type, host, value, ttl, distance }),
  domain,
})

/** Domains and DNS records of the test registry. */
export const registryRepository = {
  find: (query: Query, name: string): Promise<RegistryDomain | undefined> => query.first(find, { name }),
  /** @returns false if the name is already registered */
  add: async (tx: Transaction, domain: RegistryDomain): Promise<boolean> =>
    (await tx.run(insert, domains.params(domain))) > 0,
  /**
   * Increments the serial number and locks the domain until the end of the transaction. Call it before any other
   * statement of a change.
   * @returns undefined if the name is not registered
   */
  beginChange: (tx: Transaction, name: string): Promise<RegistryDomain | undefined> =>
    tx.first(incrementSerial, { name }),
  /** Stores all columns except the serial number. */
  async change(tx: Transaction, { serial: _, registeredAtMs: __, ...domain }: RegistryDomain): Promise<void> {
    await tx.run(change, domains.params(domain))
  },
  /** Sorted by insertion order. */
  listRecords: (query: Query, domain: string): Promise<RegistrarRecord[]> => query.all(listRecords, { domain }),
  async addRecord(tx: Transaction, name: string, record: RegistrarRecord): Promise<void> {
    await tx.run(insertRecord, toParams(name, record))
  },
  /** @returns false if the record does not exist */
  changeRecord: async (tx: Transaction, name: string, record: RegistrarRecord): Promise<boolean> =>
    (await tx.run(changeRecord, toParams(name, record))) > 0,
  /** @returns false if the record does not exist */
  removeRecord: async (tx: Transaction, name: string, id: string): Promise<boolean> =>
    (await tx.run(removeRecord, { id, domain: name })) > 0,
  /** Finds the zone that contains a name. */
  async findZone(query: Query, name: string): Promise<Zone | undefined> {
    const labels = name.split('.')
    for (let from = 0; from < labels.length; from += 1) {
      const rows = await query.all(findZone, { name: labels.slice(from).join('.') })
      const [first] = rows
      if (first) return { ...first.domain, records: rows.flatMap(({ record }) => record ?? []) }
    }
    return undefined
  },
}
