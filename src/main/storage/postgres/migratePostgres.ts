import { Client } from 'pg'
import { AppError } from '#shared/appError.ts'
import type { Migration } from '../migrate.ts'
import { dualMigrations } from '../migrations/dualMigrations.ts'
import { postgresBaseline } from '../migrations/postgresBaseline.ts'
import { toStoreError } from './toStoreError.ts'

/** The schema of the service on PostgreSQL, in order. */
export const postgresMigrations: readonly Migration[] = [
  postgresBaseline,
  ...dualMigrations.map(({ version, postgres }) => ({ version, up: postgres })),
]

/** Advisory lock of migrations. Arbitrary, and the same in all versions. */
const lockKey = 5_283_017

/**
 * Migrates the schema to the latest version, with one transaction per step. Processes that start together wait for each
 * other. Has no time limit, because a step may rewrite a table.
 * @throws AppError `data/newer` if a newer Steward has migrated this database; it is not changed
 * @throws StoreUnavailableError
 */
export async function migratePostgres(
  url: string,
  migrations: readonly Migration[] = postgresMigrations,
): Promise<void> {
  const client = new Client({ connectionString: url, application_name: 'steward migration' })
  client.on('error', () => {}) // the pending query is rejected too
  try {
    await client.connect()
    for (const migration of migrations) await migrateStep(client, migration, migrations.at(-1)?.version ?? 0)
  } catch (error) {
    throw toStoreError(error)
  } finally {
    await client.end().catch(() => {})
  }
}

async function migrateStep(client: Client, { version, up }: Migration, latest: number): Promise<void> {
  await client.query('BEGIN')
  try {
    await client.query('SELECT pg_advisory_xact_lock($1)', [lockKey])
    await client.query(
      'CREATE TABLE IF NOT EXISTS schema_migrations (version bigint PRIMARY KEY, migrated_at timestamptz NOT NULL)',
    )
    const present = await readPostgresVersion(client)
    if (present > latest) {
      throw new AppError(
        'data/newer',
        `The database was written by a newer Steward (schema ${present}; this one knows up to ${latest}).`,
      )
    }
    if (present < version) {
      await client.query(up)
      await client.query('INSERT INTO schema_migrations VALUES ($1, now())', [version])
    }
    await client.query('COMMIT')
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {})
    throw error
  }
}

/** @returns 0 for a database without a schema */
async function readPostgresVersion(client: Client): Promise<number> {
  const { rows } = await client.query<{ version: string }>(
    'SELECT coalesce(max(version), 0) AS version FROM schema_migrations',
  )
  return Number(rows[0]?.version)
}
