import type { Database } from '#storage/sqlite/openDatabase.ts'
import type { Params } from '#storage/table.ts'

/** Changes ids of accounts in their rows and in all stored references. Entries of the activity log are not changed. */
export type AccountIdRepository = {
  /** Changes all ids in one transaction, because two accounts may swap theirs. */
  change(ids: readonly { from: string; to: string }[]): void
}

/** JSON columns with an account id in `$.account_id`. */
const jsonColumns = [
  ['intents', 'intent'],
  ['intents', 'record'],
] as const

export function createAccountIdRepository(database: Database): AccountIdRepository {
  const prepare = (sql: string) => database.prepare<[Params<'from' | 'to'>]>(sql)
  // The order is not significant, because foreign keys are checked at the end of the transaction.
  const statements = [
    prepare('UPDATE wallet_accounts SET id = @to WHERE id = @from'),
    prepare('UPDATE balances SET account_id = @to WHERE account_id = @from'),
    prepare('UPDATE grants SET account_id = @to WHERE account_id = @from'),
    ...jsonColumns.map(([table, column]) =>
      prepare(
        `UPDATE ${table} SET ${column} = json_set(${column}, '$.account_id', @to)
         WHERE json_valid(${column}) AND json_extract(${column}, '$.account_id') = @from`,
      ),
    ),
    prepare(
      `UPDATE agent_settings SET value = (SELECT json_group_object(key, iif(value = @from, @to, value)) FROM json_each(agent_settings.value))
       WHERE key = 'wallet.default_accounts' AND json_valid(value)
         AND EXISTS (SELECT 1 FROM json_each(agent_settings.value) WHERE value = @from)`,
    ),
  ]
  const change = database.transaction((ids: readonly { from: string; to: string }[]) => {
    database.pragma('defer_foreign_keys = ON')
    const steps = ids.map(({ from, to }) => ({ from, via: `moving ${to}`, to }))
    for (const { from, via } of steps) for (const statement of statements) statement.run({ from, to: via })
    for (const { via, to } of steps) for (const statement of statements) statement.run({ from: via, to })
  })
  return { change: (ids) => change.immediate(ids) }
}
