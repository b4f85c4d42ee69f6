import type { KeyLocation } from '#shared/contract/providers.ts'
import type { Database } from '#storage/sqlite/openDatabase.ts'
import {
  defineTable,
  nullable,
  number,
  type Params,
  type RowOf,
  renameColumn,
  type StoredRow,
  text,
} from '#storage/table.ts'

const providerKeys = defineTable('provider_keys', {
  slot: text(),
  location: renameColumn('place', text<Exclude<KeyLocation, 'config'>>()),
  endsWith: nullable(text()),
  setAtMs: number(),
})
export type KeyRow = RowOf<typeof providerKeys>

/** Metadata of stored keys. The database does not contain the keys. */
export type ProviderKeyRepository = {
  /** Lists keys, ordered by slot. */
  all(): readonly KeyRow[]
  put(row: KeyRow): void
  remove(slot: string): void
}

export function createProviderKeyRepository(database: Database): ProviderKeyRepository {
  const all = database.prepare<[], StoredRow>(`SELECT ${providerKeys.selection()} FROM provider_keys ORDER BY slot`)
  const put = database.prepare<[Params<keyof KeyRow>]>(providerKeys.upsert(['slot']))
  const remove = database.prepare<[Params<'slot'>]>('DELETE FROM provider_keys WHERE slot = @slot')
  return {
    all: () => all.all().map(providerKeys.fromRow),
    put: (row) => void put.run(providerKeys.params(row)),
    remove: (slot) => void remove.run({ slot }),
  }
}
