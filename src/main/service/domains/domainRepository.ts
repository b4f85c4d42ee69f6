import type { AccountId } from '#shared/ids.ts'
import { defineStatement, type Query, type Transaction } from '#storage/store.ts'
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

type Key = Params<'registrar' | 'name'>
type Zone = RowOf<typeof zones>

const selection = `SELECT ${domains.selection()}, ${domainStates.selection()} FROM domains`
const toDomain = (row: StoredRow): DomainRow => {
  const { registrar: _, ...domain } = domains.fromRow(row)
  return { ...domain, ...domainStates.fromRow(row) }
}
const list = defineStatement<Params<'accountId' | 'registrar'>>(
  `${selection} WHERE account_id = @accountId AND registrar = @registrar ORDER BY name`,
).withRows(toDomain)
const find = defineStatement<Key>(`${selection} WHERE registrar = @registrar AND name = @name`).withRows(toDomain)
const upsert = defineStatement<Params<keyof RowOf<typeof domains>>>(
  domains.upsert(['registrar', 'name'], 'failed_at_ms = NULL, left_at_ms = NULL'),
)
const markFailed = defineStatement<Key & Params<'failedAtMs'>>(
  'UPDATE domains SET failed_at_ms = @failedAtMs WHERE registrar = @registrar AND name = @name',
)
const markLeft = defineStatement<Key & Params<'leftAtMs'>>(
  `UPDATE domains SET left_at_ms = coalesce(left_at_ms, @leftAtMs), read_at_ms = @leftAtMs, failed_at_ms = NULL
    WHERE registrar = @registrar AND name = @name`,
)
const findZone = defineStatement<Key>(
  `SELECT ${zones.selection()} FROM domain_zones WHERE registrar = @registrar AND name = @name`,
).withRows((row): ZoneRow => {
  const { records, readAtMs } = zones.fromRow(row)
  return { records, readAtMs }
})
const upsertZone = defineStatement<Params<keyof Zone>>(zones.upsert(['registrar', 'name']))
const removeZone = defineStatement<Key>('DELETE FROM domain_zones WHERE registrar = @registrar AND name = @name')

export const domainStatements = {
  ...{ list, find, upsert, markFailed, markLeft },
  ...{ findZone, upsertZone, removeZone },
}

export type DomainRepository = ReturnType<typeof createDomainRepository>

/** @param registrar owner of these domains; each registrar has a separate set */
export function createDomainRepository(registrar: RegistrarId) {
  return {
    /** Sorted by name. */
    list: (query: Query, accountId: AccountId): Promise<DomainRow[]> => query.all(list, { accountId, registrar }),
    find: (query: Query, name: string): Promise<DomainRow | undefined> => query.first(find, { registrar, name }),
    /** Adds or replaces a domain, and clears `failedAtMs` and `leftAtMs`. */
    async save(tx: Transaction, domain: StoredDomain): Promise<void> {
      await tx.run(upsert, domains.params({ ...domain, registrar }))
    },
    /** Records that the registrar's account does not have the domain. A later `save` clears this. */
    async markLeft(tx: Transaction, name: string, leftAtMs: number): Promise<void> {
      await tx.run(markLeft, { leftAtMs, registrar, name })
    },
    async markFailed(tx: Transaction, name: string, failedAtMs: number): Promise<void> {
      await tx.run(markFailed, { failedAtMs, registrar, name })
    },
    findZone: (query: Query, name: string): Promise<ZoneRow | undefined> => query.first(findZone, { registrar, name }),
    async saveZone(tx: Transaction, name: string, zone: ZoneRow): Promise<void> {
      await tx.run(upsertZone, zones.params({ registrar, name, ...zone }))
    },
    async removeZone(tx: Transaction, name: string): Promise<void> {
      await tx.run(removeZone, { registrar, name })
    },
  }
}
