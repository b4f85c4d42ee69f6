import type { DnsRecordData } from '../../../../../shared/dns/dnsRecord.ts'
import type { Database } from '../../../../storage/openDatabase.ts'
import type { Zone } from '../../dns/zoneAnswer.ts'
import type { RegistrarRecord } from '../registrar.ts'

export type RegistryDomain = {
  name: string
  registeredAtMs: number
  activeAtMs: number
  expiresAtMs: number
  privacy: boolean
  locked: boolean
  nameservers: readonly string[]
  serial: number
}

export type RegistryRepository = {
  find(name: string): RegistryDomain | undefined
  /** False where somebody has it. */
  add(domain: RegistryDomain): boolean
  change(name: string, changed: Partial<Omit<RegistryDomain, 'name' | 'serial'>>): void
  records(name: string): RegistrarRecord[]
  addRecord(name: string, record: RegistrarRecord): void
  /** False where there is no such record. */
  changeRecord(name: string, record: RegistrarRecord): boolean
  removeRecord(name: string, id: string): boolean
  /** The zone that a name lies in. */
  zoneOf(name: string): Zone | undefined
}

type Row = Omit<RegistryDomain, 'privacy' | 'locked' | 'nameservers'> & {
  privacy: 0 | 1
  locked: 0 | 1
  nameservers: string
}
type RecordRow = Omit<RegistrarRecord, 'type'> & { type: string }

const columns = `name, registered_at_ms AS registeredAtMs, active_at_ms AS activeAtMs, expires_at_ms AS expiresAtMs,
  privacy, locked, nameservers, serial`

export function registryRepository(database: Database): RegistryRepository {
  const find = database.prepare<[string], Row>(`SELECT ${columns} FROM registry_domains WHERE name = ?`)
  const add = database.prepare<[string, number, number, number, number, number, string, number]>(
    'INSERT OR IGNORE INTO registry_domains VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
  )
  const change = database.prepare<[number, number, number, number, string, string]>(
    `UPDATE registry_domains SET active_at_ms = ?, expires_at_ms = ?, privacy = ?, locked = ?, nameservers = ?,
     serial = serial + 1 WHERE name = ?`,
  )
  const records = database.prepare<[string], RecordRow>(
    'SELECT id, type, host, value, ttl, distance FROM registry_records WHERE domain = ? ORDER BY sequence, id',
  )
  const addRecord = database.prepare<[string, string, string, string, string, number, number | null, string]>(
    `INSERT INTO registry_records (id, domain, type, host, value, ttl, distance, sequence)
     VALUES (?, ?, ?, ?, ?, ?, ?, (SELECT coalesce(max(sequence), 0) + 1 FROM registry_records WHERE domain = ?))`,
  )
  const changeRecord = database.prepare<[string, string, string, number, number | null, string, string]>(
    'UPDATE registry_records SET type = ?, host = ?, value = ?, ttl = ?, distance = ? WHERE id = ? AND domain = ?',
  )
  const removeRecord = database.prepare<[string, string]>('DELETE FROM registry_records WHERE id = ? AND domain = ?')
  const grow = database.prepare<[string]>('UPDATE registry_domains SET serial = serial + 1 WHERE name = ?')

  const found = (name: string): RegistryDomain | undefined => {
    const row = find.get(name)
    if (!row) return undefined
    return {
      ...row,
      privacy: row.privacy === 1,
      locked: row.locked === 1,
      nameservers: JSON.parse(row.nameservers) as string[], // we wrote it
    }
  }
  const recordsOf = (name: string): RegistrarRecord[] =>
    records.all(name).map((row) => ({ ...row, type: row.type as DnsRecordData['type'] })) // we wrote it
  /** A change of the zone is never without a new serial. */
  const changed = (name: string, work: () => number): boolean =>
    database.transaction(() => {
      const isDone = work() > 0
      if (isDone) grow.run(name)
      return isDone
    })()

  return {
    find: found,
    add: (it) =>
      add.run(
        ...([it.name, it.registeredAtMs, it.activeAtMs, it.expiresAtMs] as const),
        ...([Number(it.privacy), Number(it.locked), JSON.stringify(it.nameservers), it.serial] as const),
      ).changes > 0,
    change(name, given) {
      const before = found(name)
      if (!before) return
      const { activeAtMs, expiresAtMs, privacy, locked, nameservers } = { ...before, ...given }
      change.run(activeAtMs, expiresAtMs, Number(privacy), Number(locked), JSON.stringify(nameservers), name)
    },
    records: recordsOf,
    addRecord(name, { id, type, host, value, ttl, distance }) {
      changed(name, () => addRecord.run(id, name, type, host, value, ttl, distance, name).changes)
    },
    changeRecord: (name, { id, type, host, value, ttl, distance }) =>
      changed(name, () => changeRecord.run(type, host, value, ttl, distance, id, name).changes),
    removeRecord: (name, id) => changed(name, () => removeRecord.run(id, name).changes),
    zoneOf(name) {
      const labels = name.split('.')
      for (let from = 0; from < labels.length; from += 1) {
        const domain = found(labels.slice(from).join('.'))
        if (domain) return { ...domain, records: recordsOf(domain.name) }
      }
      return undefined
    },
  }
}
