import type { KeyPlace } from '../../../shared/contract/providers.ts'
import type { Database } from '../../storage/openDatabase.ts'

export type KeyRow = { slot: string; place: Exclude<KeyPlace, 'config'>; endsWith: string | null; setAtMs: number }

/** What is known of kept keys; the keys themselves are in no database. */
export type ProviderKeyRepository = {
  all(): readonly KeyRow[]
  put(row: KeyRow): void
  remove(slot: string): void
}

export function providerKeyRepository(database: Database): ProviderKeyRepository {
  const all = database.prepare<[], KeyRow>(
    'SELECT slot, place, ends_with AS endsWith, set_at_ms AS setAtMs FROM provider_keys ORDER BY slot',
  )
  const put = database.prepare<[string, string, string | null, number]>(
    'INSERT OR REPLACE INTO provider_keys (slot, place, ends_with, set_at_ms) VALUES (?, ?, ?, ?)',
  )
  const remove = database.prepare<[string]>('DELETE FROM provider_keys WHERE slot = ?')
  return {
    all: () => all.all(),
    put: ({ slot, place, endsWith, setAtMs }) => void put.run(slot, place, endsWith, setAtMs),
    remove: (slot) => void remove.run(slot),
  }
}
