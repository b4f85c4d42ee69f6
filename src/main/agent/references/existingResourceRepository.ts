import type { Database } from '#storage/sqlite/openDatabase.ts'
import { defineTable, number, type Params, type RowOf, renameColumn, text } from '#storage/table.ts'
import type { RemovedKind } from '../base/removedThings.ts'

const accounts = defineTable('compared_accounts', { service: text(), accountId: text(), removedThrough: number() })
const thingTable = defineTable('known_things', {
  service: text(),
  accountId: text(),
  kind: text<RemovedKind>(),
  id: renameColumn('thing', text()),
  name: text(),
})
type AccountKey = Params<'service' | 'accountId'>
type KindKey = Params<'service' | 'accountId' | 'kind'>
type ThingKey = Params<'service' | 'accountId' | 'kind' | 'id'>

/** Things that existed in the accounts of one service at the last comparison. */
export type ExistingResourceRepository = {
  /** Adopts records of the account from an earlier version, which do not name a service. */
  adopt(accountId: string): void
  /** Returns the sequence of the last processed outbox entry of the account; 0 before the first. */
  getProcessedSequence(accountId: string): number
  acknowledge(accountId: string, sequence: number): void
  /** Returns names by id. */
  list(accountId: string, kind: RemovedKind): Map<string, string>
  /** Whether any account of any service has or had the thing. */
  exists(kind: RemovedKind, id: string): boolean
  /**
   * Whether the thing belongs or belonged to another account at another service, or to another account at this service
   * but not to this account. Account ids stay the same when the address of the service changes.
   */
  isOfOthers(accountId: string, kind: RemovedKind, id: string): boolean
  add(accountId: string, kind: RemovedKind, thing: { id: string; name: string }): void
  remove(accountId: string, kind: RemovedKind, id: string): void
  /** Replaces all things of a kind, and removes the least recently compared accounts of this service. */
  replace(accountId: string, kind: RemovedKind, things: ReadonlyMap<string, string>): void
}

/** Maximum number of accounts per service. */
const maxAccounts = 20

/** @param service address of the service; `embedded` for the service of this application */
export function createExistingResourceRepository(database: Database, service: string): ExistingResourceRepository {
  const adopt = database.prepare<[AccountKey]>(
    `UPDATE compared_accounts SET service = @service WHERE service = '' AND account_id = @accountId
      AND NOT EXISTS (SELECT 1 FROM compared_accounts WHERE service = @service AND account_id = @accountId)`,
  )
  const through = database.prepare<[AccountKey], { sequence: number }>(
    `SELECT removed_through AS sequence FROM compared_accounts
      WHERE service = @service AND account_id = @accountId`,
  )
  const insertAccount = accounts.insertWith({
    comparison: '(SELECT coalesce(max(comparison), 0) + 1 FROM compared_accounts)',
  })
  const acknowledge = database.prepare<[Params<keyof RowOf<typeof accounts>>]>(
    `${insertAccount} ON CONFLICT (service, account_id) DO UPDATE SET removed_through = excluded.removed_through`,
  )
  const compare = database.prepare<[Params<keyof RowOf<typeof accounts>>]>(
    `${insertAccount} ON CONFLICT (service, account_id) DO UPDATE SET comparison = excluded.comparison`,
  )
  const removeOldest = database.prepare<[Params<'service' | 'limit'>]>(
    `DELETE FROM compared_accounts WHERE service = @service AND account_id NOT IN
      (SELECT account_id FROM compared_accounts WHERE service = @service ORDER BY comparison DESC LIMIT @limit)`,
  )
  const list = database.prepare<[KindKey], { id: string; name: string }>(
    `SELECT thing AS id, name FROM known_things
      WHERE service = @service AND account_id = @accountId AND kind = @kind`,
  )
  const findExisting = database.prepare<[Params<'kind' | 'id'>], { existing: 1 }>(
    'SELECT 1 AS existing FROM known_things WHERE kind = @kind AND thing = @id LIMIT 1',
  )
  const ofOthers = database.prepare<[ThingKey], { ofOthers: 0 | 1 | null }>(
    `SELECT max(service <> @service AND account_id <> @accountId) OR min(account_id <> @accountId) AS "ofOthers"
      FROM known_things WHERE kind = @kind AND thing = @id`,
  )
  const add = database.prepare<[Params<keyof RowOf<typeof thingTable>>]>(
    thingTable.upsert(['service', 'accountId', 'kind', 'id']),
  )
  const remove = database.prepare<[ThingKey]>(
    `DELETE FROM known_things
      WHERE service = @service AND account_id = @accountId AND kind = @kind AND thing = @id`,
  )
  const clear = database.prepare<[KindKey]>(
    'DELETE FROM known_things WHERE service = @service AND account_id = @accountId AND kind = @kind',
  )
  const replace = database.transaction(
    (accountId: string, kind: RemovedKind, things: ReadonlyMap<string, string>): void => {
      compare.run({ service, accountId, removedThrough: 0 })
      clear.run({ service, accountId, kind })
      for (const [id, name] of things) add.run({ service, accountId, kind, id, name })
      removeOldest.run({ service, limit: maxAccounts })
    },
  )

  return {
    adopt: (accountId) => void adopt.run({ service, accountId }),
    getProcessedSequence: (accountId) => through.get({ service, accountId })?.sequence ?? 0,
    acknowledge: (accountId, sequence) => void acknowledge.run({ service, accountId, removedThrough: sequence }),
    list: (accountId, kind) => new Map(list.all({ service, accountId, kind }).map(({ id, name }) => [id, name])),
    exists: (kind, id) => findExisting.get({ kind, id }) !== undefined,
    isOfOthers: (accountId, kind, id) => ofOthers.get({ service, accountId, kind, id })?.ofOthers === 1,
    add(accountId, kind, { id, name }) {
      if (through.get({ service, accountId })) add.run({ service, accountId, kind, id, name })
    },
    remove: (accountId, kind, id) => void remove.run({ service, accountId, kind, id }),
    replace: (accountId, kind, things) => replace.immediate(accountId, kind, things),
  }
}
