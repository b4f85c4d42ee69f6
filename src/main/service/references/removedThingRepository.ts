import type { RemovedThing } from '../../../shared/contract/removedThings.ts'
import { AccountId } from '../../../shared/ids.ts'
import type { Database } from '../../storage/openDatabase.ts'

/** Outbox of removals. Triggers of the schema write it, in the transaction of the removal. */
export type RemovedThingRepository = {
  /** Oldest first. */
  list(accountId: AccountId, after: number, limit: number): RemovedThing[]
  /** 0 for none. */
  lastSequence(accountId: AccountId): number
  /** Last sequence of each account that has a later entry. */
  grown(after: number): { accountId: AccountId; sequence: number }[]
}

export function removedThingRepository(database: Database): RemovedThingRepository {
  const list = database.prepare<[string, number, number], RemovedThing>(
    `SELECT sequence, kind, thing AS id, name FROM removed_things
      WHERE account_id = ? AND sequence > ? ORDER BY sequence LIMIT ?`,
  )
  const last = database.prepare<[string], { sequence: number | null }>(
    'SELECT max(sequence) AS sequence FROM removed_things WHERE account_id = ?',
  )
  const grown = database.prepare<[number], { accountId: string; sequence: number }>(
    `SELECT account_id AS accountId, max(sequence) AS sequence FROM removed_things NOT INDEXED WHERE sequence > ?
      GROUP BY account_id`,
  )
  return {
    list: (accountId, after, limit) => list.all(accountId, after, limit),
    lastSequence: (accountId) => last.get(accountId)?.sequence ?? 0,
    grown: (after) => grown.all(after).map((row) => ({ ...row, accountId: AccountId.parse(row.accountId) })),
  }
}
