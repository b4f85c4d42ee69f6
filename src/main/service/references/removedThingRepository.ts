import type { RemovedThing } from '#shared/contract/removedThings.ts'
import type { AccountId } from '#shared/ids.ts'
import type { Database } from '#storage/sqlite/openDatabase.ts'
import { defineTable, number, type Params, renameColumn, type StoredRow, text } from '#storage/table.ts'

const removedThings = defineTable('removed_things', {
  sequence: number(),
  kind: text(),
  id: renameColumn('thing', text()),
  name: text(),
})

/** Outbox of removals. Triggers write it in the transaction of the removal. */
export type RemovedThingRepository = {
  /** Lists removals after this sequence, oldest first. */
  list(accountId: AccountId, after: number, limit: number): RemovedThing[]
  /** @returns 0 if there are no removals */
  lastSequence(accountId: AccountId): number
  /** Lists the last sequence of each account that has a later one than `after`. */
  listGrown(after: number): { accountId: AccountId; sequence: number }[]
}

export function createRemovedThingRepository(database: Database): RemovedThingRepository {
  const list = database.prepare<[Params<'accountId' | 'after' | 'limit'>], StoredRow>(
    `SELECT ${removedThings.selection()} FROM removed_things
      WHERE account_id = @accountId AND sequence > @after ORDER BY sequence LIMIT @limit`,
  )
  const last = database.prepare<[Params<'accountId'>], { sequence: number | null }>(
    'SELECT max(sequence) AS sequence FROM removed_things WHERE account_id = @accountId',
  )
  const grown = database.prepare<[Params<'after'>], { accountId: AccountId; sequence: number }>(
    `SELECT account_id AS "accountId", max(sequence) AS sequence FROM removed_things WHERE sequence > @after
      GROUP BY account_id`,
  )
  return {
    list: (accountId, after, limit) => list.all({ accountId, after, limit }).map(removedThings.fromRow),
    lastSequence: (accountId) => last.get({ accountId })?.sequence ?? 0,
    listGrown: (after) => grown.all({ after }),
  }
}
