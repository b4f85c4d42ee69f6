import type { AccountId } from '#shared/ids.ts'
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
import type { RegistrarDomain, RegistrarId, RegistrarRecord } from './registrars/registrar.ts'

const domains = defineTable('domains', {
  registrar: text<RegistrarId>(),
  name: text(),
  accountId: text<AccountId>(),
  status: text<RegistrarDomain['status']>(),
  registeredAtMs: number(),
  expiresAtMs: number(),
  autoRenew: flag(),
  privacy: flag(),
  locked: flag(),
  nameservers: json<readonly string[]>(),
  readAtMs: number(),
})
/** Columns that are written only by separate statements. */
const domainStates = defineTable('domains', { failedAtMs: nullable(number()), leftAtMs: nullable(number()) })
const zones = defineTable('domain_zones', {
  registrar: text<RegistrarId>(),
  name: text(),
  records: json<readonly RegistrarRecord[]>(),
  readAtMs: number(),
})

type StoredDomain = Omit<RowOf<typeof domains>, 'registrar'>

/** Domain with the registrar's last known data. */
export type DomainRow = StoredDomain & {
  /** Time of the first failed request since the registrar's last response. */
  failedAtMs: number | null
  /** Time at which the registrar first reported that its account does not have the domain. Null if it has it. */
  leftAtMs: number | null
}

export type ZoneRow = Pick<RowOf<typeof zones>, 'records' | 'readAtMs'>

export type DomainRepository = {
  /** Sorted by name. */
  list(accountId: AccountId): DomainRow[]
  find(name: string): DomainRow | undefined
  /** Adds or replaces a domain, and clears `failedAtMs` and `leftAtMs`. */
  keep(domain: StoredDomain): void
  /** Records that the registrar's account does not have the domain. A later `keep` clears this. */
  markLeft(name: string, atMs: number): void
  markFailed(name: string, atMs: number): void
  findZone(name: string): ZoneRow | undefined
  keepZone(name: string, zone: ZoneRow): void
  removeZone(name: string): void
}

type Key = Params<'registrar' | 'name'>

/** @param registrar owner of these domains; each registrar has a separate set */
export function createDomainRepository(database: Database, registrar: RegistrarId): DomainRepository {
  const selection = `SELECT ${domains.selection()}, ${domainStates.selection()} FROM domains`
  const list = database.prepare<[Params<'accountId' | 'registrar'>], StoredRow>(
    `${selection} WHERE account_id = @accountId AND registrar = @registrar ORDER BY name`,
  )
  const find = database.prepare<[Key], StoredRow>(`${selection} WHERE registrar = @registrar AND name = @name`)
  const keep = database.prepare<[Params<keyof RowOf<typeof domains>>]>(
    domains.upsert(['registrar', 'name'], 'failed_at_ms = NULL, left_at_ms = NULL'),
  )
  const markFailed = database.prepare<[Key & Params<'failedAtMs'>]>(
    'UPDATE domains SET failed_at_ms = @failedAtMs WHERE registrar = @registrar AND name = @name',
  )
  const markLeftQuery = database.prepare<[Key & Params<'leftAtMs'>]>(
    `UPDATE domains SET left_at_ms = coalesce(left_at_ms, @leftAtMs), read_at_ms = @leftAtMs, failed_at_ms = NULL
      WHERE registrar = @registrar AND name = @name`,
  )
  const findZone = database.prepare<[Key], StoredRow>(
    `SELECT ${zones.selection()} FROM domain_zones WHERE registrar = @registrar AND name = @name`,
  )
  const keepZone = database.prepare<[Params<keyof RowOf<typeof zones>>]>(zones.upsert(['registrar', 'name']))
  const removeZone = database.prepare<[Key]>('DELETE FROM domain_zones WHERE registrar = @registrar AND name = @name')
  const toDomain = (row: StoredRow): DomainRow => {
    const { registrar: _, ...domain } = domains.fromRow(row)
    return { ...domain, ...domainStates.fromRow(row) }
  }

  return {
    list: (accountId) => list.all(domains.params({ accountId, registrar })).map(toDomain),
    find(name) {
      const row = find.get({ registrar, name })
      return row && toDomain(row)
    },
    keep: (domain) => void keep.run(domains.params({ ...domain, registrar })),
    markFailed: (name, failedAtMs) => void markFailed.run({ failedAtMs, registrar, name }),
    markLeft: (name, leftAtMs) => void markLeftQuery.run({ leftAtMs, registrar, name }),
    findZone(name) {
      const row = findZone.get({ registrar, name })
      if (!row) return undefined
      const { records, readAtMs } = zones.fromRow(row)
      return { records, readAtMs }
    },
    keepZone: (name, zone) => void keepZone.run(zones.params({ registrar, name, ...zone })),
    removeZone: (name) => void removeZone.run({ registrar, name }),
  }
}
