import type { RemovedThing } from '#shared/contract/removedThings.ts'
import type { AccountId } from '#shared/ids.ts'
import { defineStatement, type Query } from '#storage/store.ts'
import { defineTable, number, type Params, type RowOf, renameColumn, text } from '#storage/table.ts'

const removedThings = defineTable('removed_things', {
  sequence: number(),
  kind: text(),
  id: renameColumn('thing', text()),
  name: text(),
})
const removals = defineTable('removed_things', { accountId: text<AccountId>(), sequence: number() })
type Removal = RowOf<typeof removals>

export const removedThingStatements = {
  list: defineStatement<Params<'accountId' | 'after' | 'limit'>>(
    `SELECT ${removedThings.selection()} FROM removed_things
      WHERE account_id = @accountId AND sequence > @after ORDER BY sequence LIMIT @limit`,
  ).withRows(removedThings.fromRow),
  last: defineStatement<Params<'accountId'>>(
    'SELECT max(sequence) AS sequence FROM removed_things WHERE account_id = @accountId',
  ).withRows((row) => Number(row.sequence ?? 0)),
  lastOfAll: defineStatement('SELECT max(sequence) AS sequence FROM removed_things').withRows((row) =>
    Number(row.sequence ?? 0),
  ),
  listOfAll: defineStatement<Params<'after'>>(
    `SELECT ${removals.selection()} FROM removed_things WHERE sequence > @after ORDER BY sequence`,
  ).withRows(removals.fromRow),
}

/** Outbox of removals. Triggers write it in the transaction of the removal, in the order of the commits. */
export const removedThingRepository = {
  /** Lists removals after this sequence, oldest first. */
  list(query: Query, accountId: AccountId, page: { after: number; limit: number }): Promise<RemovedThing[]> {
    return query.all(removedThingStatements.list, { accountId, ...page })
  },
  /** @returns 0 if there are no removals */
  async getLastSequence(query: Query, accountId: AccountId): Promise<number> {
    return (await query.first(removedThingStatements.last, { accountId })) ?? 0
  },
  /** @returns the last sequence of all accounts, or 0 */
  async getLastOfAll(query: Query): Promise<number> {
    return (await query.first(removedThingStatements.lastOfAll)) ?? 0
  },
  /** Lists the removals of all accounts after this sequence, oldest first. */
  listOfAll(query: Query, after: number): Promise<Removal[]> {
    return query.all(removedThingStatements.listOfAll, { after })
  },
}
