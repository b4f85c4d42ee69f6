import type { Database } from '../../storage/openDatabase.ts'
import type { RemovedKind } from './removedThings.ts'

/** Things that existed in accounts of services when they were last compared. */
export type KnownThingRepository = {
  /** Last processed entry of the account's outbox; 0 before the first. */
  removedThrough(accountId: string): number
  acknowledge(accountId: string, sequence: number): void
  /** Names by id. */
  list(accountId: string, kind: RemovedKind): Map<string, string>
  /** Whether any account has or had it. */
  isKnown(kind: RemovedKind, id: string): boolean
  add(accountId: string, kind: RemovedKind, thing: { id: string; name: string }): void
  remove(accountId: string, kind: RemovedKind, id: string): void
  /** Replaces all of a kind, and removes accounts that were not compared for longest. */
  replace(accountId: string, kind: RemovedKind, things: ReadonlyMap<string, string>): void
}

/** Accounts that are stored. */
const maxAccounts = 20

export function knownThingRepository(database: Database): KnownThingRepository {
  const through = database.prepare<[string], { sequence: number }>(
    'SELECT removed_through AS sequence FROM compared_accounts WHERE account_id = ?',
  )
  const next = '(SELECT coalesce(max(comparison), 0) + 1 FROM compared_accounts)'
  const acknowledge = database.prepare<[string, number]>(
    `INSERT INTO compared_accounts VALUES (?, ?, ${next})
      ON CONFLICT (account_id) DO UPDATE SET removed_through = excluded.removed_through`,
  )
  const compared = database.prepare<[string]>(
    `INSERT INTO compared_accounts VALUES (?, 0, ${next})
      ON CONFLICT (account_id) DO UPDATE SET comparison = excluded.comparison`,
  )
  const forget = database.prepare<[number]>(
    `DELETE FROM compared_accounts WHERE account_id NOT IN
      (SELECT account_id FROM compared_accounts ORDER BY comparison DESC LIMIT ?)`,
  )
  const list = database.prepare<[string, string], { thing: string; name: string }>(
    'SELECT thing, name FROM known_things WHERE account_id = ? AND kind = ?',
  )
  const known = database.prepare<[string, string], { known: 1 }>(
    'SELECT 1 AS known FROM known_things WHERE kind = ? AND thing = ? LIMIT 1',
  )
  const add = database.prepare<[string, string, string, string]>(
    'INSERT OR REPLACE INTO known_things VALUES (?, ?, ?, ?)',
  )
  const remove = database.prepare<[string, string, string]>(
    'DELETE FROM known_things WHERE account_id = ? AND kind = ? AND thing = ?',
  )
  const clear = database.prepare<[string, string]>('DELETE FROM known_things WHERE account_id = ? AND kind = ?')
  const replace = database.transaction(
    (accountId: string, kind: RemovedKind, things: ReadonlyMap<string, string>): void => {
      compared.run(accountId)
      clear.run(accountId, kind)
      for (const [id, name] of things) add.run(accountId, kind, id, name)
      forget.run(maxAccounts)
    },
  )

  return {
    removedThrough: (accountId) => through.get(accountId)?.sequence ?? 0,
    acknowledge: (accountId, sequence) => void acknowledge.run(accountId, sequence),
    list: (accountId, kind) => new Map(list.all(accountId, kind).map(({ thing, name }) => [thing, name])),
    isKnown: (kind, id) => known.get(kind, id) !== undefined,
    add(accountId, kind, { id, name }) {
      if (through.get(accountId)) add.run(accountId, kind, id, name)
    },
    remove: (accountId, kind, id) => void remove.run(accountId, kind, id),
    replace: (accountId, kind, things) => replace.immediate(accountId, kind, things),
  }
}
