import type { Database } from '#storage/openDatabase.ts'
import { defineTable, number, type Params, type RowOf, renameColumn, text } from '#storage/table.ts'
import type { RemovedKind } from './removedThings.ts'

const accounts = defineTable('compared_accounts', { accountId: text(), removedThrough: number() })
const thingTable = defineTable('known_things', {
  accountId: text(),
  kind: text<RemovedKind>(),
  id: renameColumn('thing', text()),
  name: text(),
})
type ThingKey = Params<'accountId' | 'kind' | 'id'>

/** Things that existed in accounts of services when they were last compared. */
export type ExistingThingRepository = {
  /** Last processed entry of the account's outbox; 0 before the first. */
  getProcessedSequence(accountId: string): number
  acknowledge(accountId: string, sequence: number): void
  /** Names by id. */
  list(accountId: string, kind: RemovedKind): Map<string, string>
  /** Whether any account has or had the thing. */
  exists(kind: RemovedKind, id: string): boolean
  /** Whether other accounts have or had it, and this one does not. */
  isOfOthers(accountId: string, kind: RemovedKind, id: string): boolean
  add(accountId: string, kind: RemovedKind, thing: { id: string; name: string }): void
  remove(accountId: string, kind: RemovedKind, id: string): void
  /** Replaces all of a kind, and removes accounts that were not compared for longest. */
  replace(accountId: string, kind: RemovedKind, things: ReadonlyMap<string, string>): void
}

const maxAccounts = 20

export function createExistingThingRepository(database: Database): ExistingThingRepository {
  const through = database.prepare<[Params<'accountId'>], { sequence: number }>(
    'SELECT removed_through AS sequence FROM compared_accounts WHERE account_id = @accountId',
  )
  const insertAccount = accounts.insertWith({
    comparison: '(SELECT coalesce(max(comparison), 0) + 1 FROM compared_accounts)',
  })
  const acknowledge = database.prepare<[Params<keyof RowOf<typeof accounts>>]>(
    `${insertAccount} ON CONFLICT (account_id) DO UPDATE SET removed_through = excluded.removed_through`,
  )
  const compare = database.prepare<[Params<keyof RowOf<typeof accounts>>]>(
    `${insertAccount} ON CONFLICT (account_id) DO UPDATE SET comparison = excluded.comparison`,
  )
  const removeOldest = database.prepare<[Params<'limit'>]>(
    `DELETE FROM compared_accounts WHERE account_id NOT IN
      (SELECT account_id FROM compared_accounts ORDER BY comparison DESC LIMIT @limit)`,
  )
  const list = database.prepare<[Params<'accountId' | 'kind'>], { id: string; name: string }>(
    'SELECT thing AS id, name FROM known_things WHERE account_id = @accountId AND kind = @kind',
  )
  const findExisting = database.prepare<[Params<'kind' | 'id'>], { existing: 1 }>(
    'SELECT 1 AS existing FROM known_things WHERE kind = @kind AND thing = @id LIMIT 1',
  )
  const ofOthers = database.prepare<[ThingKey], { ofOthers: 0 | 1 | null }>(
    'SELECT min(account_id <> @accountId) AS "ofOthers" FROM known_things WHERE kind = @kind AND thing = @id',
  )
  const add = database.prepare<[Params<keyof RowOf<typeof thingTable>>]>(thingTable.upsert(['accountId', 'kind', 'id']))
  const remove = database.prepare<[ThingKey]>(
    'DELETE FROM known_things WHERE account_id = @accountId AND kind = @kind AND thing = @id',
  )
  const clear = database.prepare<[Params<'accountId' | 'kind'>]>(
    'DELETE FROM known_things WHERE account_id = @accountId AND kind = @kind',
  )
  const replace = database.transaction(
    (accountId: string, kind: RemovedKind, things: ReadonlyMap<string, string>): void => {
      compare.run({ accountId, removedThrough: 0 })
      clear.run({ accountId, kind })
      for (const [id, name] of things) add.run({ accountId, kind, id, name })
      removeOldest.run({ limit: maxAccounts })
    },
  )

  return {
    getProcessedSequence: (accountId) => through.get({ accountId })?.sequence ?? 0,
    acknowledge: (accountId, sequence) => void acknowledge.run({ accountId, removedThrough: sequence }),
    list: (accountId, kind) => new Map(list.all({ accountId, kind }).map(({ id, name }) => [id, name])),
    exists: (kind, id) => findExisting.get({ kind, id }) !== undefined,
    isOfOthers: (accountId, kind, id) => ofOthers.get({ accountId, kind, id })?.ofOthers === 1,
    add(accountId, kind, { id, name }) {
      if (through.get({ accountId })) add.run({ accountId, kind, id, name })
    },
    remove: (accountId, kind, id) => void remove.run({ accountId, kind, id }),
    replace: (accountId, kind, things) => replace.immediate(accountId, kind, things),
  }
}
