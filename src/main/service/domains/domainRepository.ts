import { AccountId } from '../../../shared/ids.ts'
import type { Database } from '../../storage/openDatabase.ts'
import type { RegistrarDomain, RegistrarId, RegistrarRecord } from './registrars/registrar.ts'

/** A domain as the registrar told it last. */
export type DomainRow = RegistrarDomain & {
  accountId: AccountId
  readAtMs: number
  /** When the registrar was asked in vain, since it answered last. */
  failedAtMs: number | null
  /** When the registrar first said that its account does not have it; null: it has. */
  leftAtMs: number | null
}

export type ZoneRow = { records: readonly RegistrarRecord[]; readAtMs: number }

export type DomainRepository = {
  /** In the order of their names. */
  list(accountId: AccountId): DomainRow[]
  find(name: string): DomainRow | undefined
  /** Adds it, or takes the place of what was known of it. */
  keep(domain: Omit<DomainRow, 'failedAtMs' | 'leftAtMs'>): void
  /** The registrar's account does not have it. A later `keep` takes that back. */
  markLeft(name: string, atMs: number): void
  markFailed(name: string, atMs: number): void
  findZone(name: string): ZoneRow | undefined
  keepZone(name: string, zone: ZoneRow): void
  removeZone(name: string): void
}

type Row = Omit<DomainRow, 'accountId' | 'autoRenew' | 'privacy' | 'locked' | 'nameservers'> & {
  accountId: string
  autoRenew: 0 | 1
  privacy: 0 | 1
  locked: 0 | 1
  nameservers: string
}

const columns = `name, account_id AS accountId, status, registered_at_ms AS registeredAtMs,
  expires_at_ms AS expiresAtMs, auto_renew AS autoRenew, privacy, locked, nameservers, read_at_ms AS readAtMs,
  failed_at_ms AS failedAtMs, left_at_ms AS leftAtMs`

/** @param registrar whose domains these are: another one has its own */
export function domainRepository(database: Database, registrar: RegistrarId): DomainRepository {
  const list = database.prepare<[string, string], Row>(
    `SELECT ${columns} FROM domains WHERE account_id = ? AND registrar = ? ORDER BY name`,
  )
  const find = database.prepare<[string, string], Row>(
    `SELECT ${columns} FROM domains WHERE registrar = ? AND name = ?`,
  )
  const keep = database.prepare<
    [string, string, string, string, number, number, number, number, number, string, number]
  >(
    `INSERT INTO domains (registrar, name, account_id, status, registered_at_ms, expires_at_ms, auto_renew, privacy, locked,
       nameservers, read_at_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (registrar, name) DO UPDATE SET account_id = excluded.account_id, status = excluded.status,
       registered_at_ms = excluded.registered_at_ms, expires_at_ms = excluded.expires_at_ms,
       auto_renew = excluded.auto_renew, privacy = excluded.privacy, locked = excluded.locked,
       nameservers = excluded.nameservers, read_at_ms = excluded.read_at_ms, failed_at_ms = NULL,
       left_at_ms = NULL`,
  )
  const markFailed = database.prepare<[number, string, string]>(
    'UPDATE domains SET failed_at_ms = ? WHERE registrar = ? AND name = ?',
  )
  const markLeft = database.prepare<[number, number, string, string]>(
    `UPDATE domains SET left_at_ms = coalesce(left_at_ms, ?), read_at_ms = ?, failed_at_ms = NULL
      WHERE registrar = ? AND name = ?`,
  )
  const findZone = database.prepare<[string, string], { records: string; readAtMs: number }>(
    'SELECT records, read_at_ms AS readAtMs FROM domain_zones WHERE registrar = ? AND name = ?',
  )
  const keepZone = database.prepare<[string, string, string, number]>(
    'INSERT OR REPLACE INTO domain_zones VALUES (?, ?, ?, ?)',
  )
  const removeZone = database.prepare<[string, string]>('DELETE FROM domain_zones WHERE registrar = ? AND name = ?')

  return {
    list: (accountId) => list.all(accountId, registrar).map(toDomain),
    find(name) {
      const row = find.get(registrar, name)
      return row && toDomain(row)
    },
    keep: (it) =>
      void keep.run(
        ...([
          registrar,
          it.name,
          it.accountId,
          it.status,
          it.registeredAtMs,
          it.expiresAtMs,
          Number(it.autoRenew),
        ] as const),
        ...([Number(it.privacy), Number(it.locked), JSON.stringify(it.nameservers), it.readAtMs] as const),
      ),
    markFailed: (name, atMs) => void markFailed.run(atMs, registrar, name),
    markLeft: (name, atMs) => void markLeft.run(atMs, atMs, registrar, name),
    findZone(name) {
      const row = findZone.get(registrar, name)
      return row && { ...row, records: JSON.parse(row.records) as RegistrarRecord[] } // we wrote it
    },
    keepZone: (name, { records, readAtMs }) => void keepZone.run(registrar, name, JSON.stringify(records), readAtMs),
    removeZone: (name) => void removeZone.run(registrar, name),
  }
}

function toDomain(row: Row): DomainRow {
  return {
    ...row,
    accountId: AccountId.parse(row.accountId),
    autoRenew: row.autoRenew === 1,
    privacy: row.privacy === 1,
    locked: row.locked === 1,
    nameservers: JSON.parse(row.nameservers) as string[], // we wrote it
  }
}
