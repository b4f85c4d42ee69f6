import { createHash } from 'node:crypto'
import { Client } from 'pg'
import { AppError } from '#shared/appError.ts'
import { readSchemaVersion } from '../migrate.ts'
import type { Database } from '../sqlite/openDatabase.ts'
import { anyText } from '../table.ts'
import { postgresMigrations } from './migratePostgres.ts'
import { toStoreError } from './toStoreError.ts'

export type TableCopy = { table: string; rows: number }

type Column = { name: string; type: string; isIdentity: boolean }
type StoredValue = string | bigint | number | Buffer | null
type StoredRow = Readonly<Record<string, StoredValue>>

const batchRows = 500
/** Table of the PostgreSQL schema itself. */
const ownTables = ['schema_migrations']
/** Tables that a new schema has rows in. They are replaced. */
const seededTables = ['credit_accounts', 'database_identity']

/**
 * Copies the data of the service from SQLite to a migrated PostgreSQL database without data, in one transaction. Reads
 * every table back and compares all of its rows.
 * @throws AppError `data/unusable` if the target contains data, or if the copy is not equal; nothing is changed then
 * @throws StoreUnavailableError
 */
export async function copyDatabase(source: Database, url: string): Promise<TableCopy[]> {
  const client = new Client({ connectionString: url, application_name: 'steward copy' })
  client.on('error', () => {}) // the pending query is rejected too
  try {
    await client.connect()
    await client.query('BEGIN ISOLATION LEVEL SERIALIZABLE')
    const copies = await copyTables(source, client)
    await client.query('COMMIT')
    return copies
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {})
    throw toStoreError(error)
  } finally {
    await client.end().catch(() => {})
  }
}

async function copyTables(source: Database, client: Client): Promise<TableCopy[]> {
  const latest = postgresMigrations.at(-1)?.version
  if (readSchemaVersion(source) !== latest) throw new Error('Migrate the source before it is copied.')
  const tables = await listTables(client)
  for (const table of tables) {
    await client.query(`ALTER TABLE ${quote(table)} DISABLE TRIGGER USER`) // the source has what they would add
    if (seededTables.includes(table)) await client.query(`DELETE FROM ${quote(table)}`)
    else await assertEmpty(client, table)
  }
  const copies: TableCopy[] = []
  for (const table of tables) {
    const columns = await listColumns(client, table)
    copies.push({ table, rows: await copyTable(source, client, table, columns) })
    for (const { name, isIdentity } of columns) if (isIdentity) await continueSequence(client, table, name)
  }
  for (const table of tables) await client.query(`ALTER TABLE ${quote(table)} ENABLE TRIGGER USER`)
  return copies
}

/** Lists the tables such that each comes after those that it references. */
async function listTables(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string; references: string[] }>(
    `SELECT relname AS name, ARRAY(
       SELECT confrelid::regclass::text FROM pg_constraint
       WHERE contype = 'f' AND conrelid = pg_class.oid AND confrelid <> conrelid
     ) AS references
     FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace ORDER BY relname`,
  )
  const sorted: string[] = []
  const add = (name: string): void => {
    if (sorted.includes(name) || ownTables.includes(name)) return
    for (const reference of rows.find((row) => row.name === name)?.references ?? []) add(reference)
    sorted.push(name)
  }
  for (const { name } of rows) add(name)
  return sorted
}

async function assertEmpty(client: Client, table: string): Promise<void> {
  const { rowCount } = await client.query(`SELECT 1 FROM ${quote(table)} LIMIT 1`)
  if (rowCount === 0) return
  throw new AppError('data/unusable', `The target database already contains data (in ${table}). Use an empty database.`)
}

async function listColumns(client: Client, table: string): Promise<Column[]> {
  const { rows } = await client.query<Column>(
    `SELECT attname AS name, format_type(atttypid, NULL) AS type, attidentity <> '' AS "isIdentity"
     FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum`,
    [quote(table)],
  )
  return rows
}

/** Copies a table and reads it back. @returns the number of rows */
async function copyTable(source: Database, client: Client, table: string, columns: readonly Column[]): Promise<number> {
  const names = columns.map(({ name }) => quote(name)).join(', ')
  const select = `SELECT ${names} FROM ${quote(table)}`
  // A statement has at most 65,535 parameters.
  const batchSize = Math.min(batchRows, Math.floor(65_535 / columns.length))
  const [before, after] = [createRowSum(), createRowSum()]
  let batch: StoredValue[][] = []
  const flush = async (): Promise<void> => {
    if (batch.length === 0) return
    const tuples = batch.map((row, index) => `(${row.map((_, at) => `$${index * row.length + at + 1}`).join(', ')})`)
    await client.query(
      `INSERT INTO ${quote(table)} (${names}) VALUES ${tuples.join(', ')}`,
      batch.flat().map(toParameter),
    )
    batch = []
  }
  for (const row of source.prepare<[], StoredRow>(select).safeIntegers().iterate()) {
    const values = columns.map(({ name }) => encode(row[name] ?? null))
    before.add(values)
    batch.push(values)
    if (batch.length === batchSize) await flush()
  }
  await flush()
  await client.query(`DECLARE copied NO SCROLL CURSOR FOR ${select}`)
  for (;;) {
    const { rows } = await client.query<StoredRow>(`FETCH ${batchSize} FROM copied`)
    for (const row of rows) after.add(columns.map(({ name }) => row[name] ?? null))
    if (rows.length < batchSize) break
  }
  await client.query('CLOSE copied')
  if (before.toString() !== after.toString()) {
    throw new AppError('data/unusable', `The copy of ${table} differs from the source. Nothing was copied.`)
  }
  return before.count()
}

/** Sums the hashes of rows, in any order. */
function createRowSum() {
  let rows = 0
  let sum = 0n
  return {
    add(values: readonly StoredValue[]): void {
      const text = JSON.stringify(
        values.map((value) => (Buffer.isBuffer(value) ? [value.toString('base64')] : value?.toString())),
      )
      sum = BigInt.asUintN(64, sum + createHash('sha256').update(text).digest().readBigUInt64BE())
      rows += 1
    },
    count: () => rows,
    toString: () => `${rows} ${sum}`,
  }
}

/** PostgreSQL does not store U+0000. */
function encode(value: StoredValue): StoredValue {
  return typeof value === 'string' && value.includes('\0') ? String(anyText().encode(value)) : value
}

/** PostgreSQL parses integers from text, so that those beyond 2^53 keep their value. */
function toParameter(value: StoredValue): string | number | Buffer | null {
  return typeof value === 'bigint' ? String(value) : value
}

/** Makes new rows continue after those that were copied. */
async function continueSequence(client: Client, table: string, column: string): Promise<void> {
  await client.query(
    `SELECT setval(pg_get_serial_sequence($1, $2), greatest(coalesce(max(${quote(column)}), 0), 1), max(${quote(column)}) IS NOT NULL)
     FROM ${quote(table)}`,
    [quote(table), column],
  )
}

function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
