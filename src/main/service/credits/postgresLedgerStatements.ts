import { type AnyParams, defineStatement, type StatementDefinition, type Transaction } from '#storage/store.ts'
import type { Params } from '#storage/table.ts'

/** Defines a statement that only PostgreSQL runs. */
export function definePostgres<P extends AnyParams = Record<never, never>>(postgres: string): StatementDefinition<P> {
  return defineStatement<P>({ sqlite: '', postgres })
}

export const addRevenueAccount = definePostgres<Params<'id'>>(
  `INSERT INTO credit_accounts (id, kind) VALUES (@id, 'service') ON CONFLICT (id) DO NOTHING`,
)

export const reserveHoldIds = definePostgres<Params<'count'>>(
  `SELECT nextval(pg_get_serial_sequence('credit_holds', 'id')) AS id FROM generate_series(1, @count::integer)`,
).withRows(({ id }) => Number(id))

const removalBatchSize = 500
const removeEnded = definePostgres<Params<'beforeMs'>>(
  `DELETE FROM credit_holds WHERE id IN (
     SELECT id FROM credit_holds WHERE state <> 'open' AND ended_at_ms < @beforeMs ORDER BY id LIMIT ${removalBatchSize})`,
)

/** Deletes a batch of holds that ended before a time. @returns whether there may be more */
export async function removeEndedHolds(tx: Transaction, beforeMs: number): Promise<boolean> {
  return (await tx.run(removeEnded, { beforeMs })) === removalBatchSize
}

export const removeStaleMeters = definePostgres(
  'DELETE FROM sandbox_meters WHERE sandbox_id NOT IN (SELECT id FROM sandboxes)',
)
