import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { migrate } from '#storage/migrate.ts'
import { serviceMigrations } from '#storage/migrations/serviceMigrations.ts'
import { migratePostgres, postgresMigrations } from '#storage/postgres/migratePostgres.ts'
import { type Database, openDatabase } from '#storage/sqlite/openDatabase.ts'
import { defineTable, text } from '#storage/table.ts'
import { postgresMissing, startPostgres, type TestPostgres } from '../support/processes/postgres.ts'
import { skipWhen } from '../support/runner/skipWhen.ts'

/** Tables of an engine itself. */
const ownTables = ['schema_migrations', 'sqlite_sequence']
const postgresTypes: Readonly<Record<string, string>> = {
  TEXT: 'text',
  INTEGER: 'bigint',
  BLOB: 'bytea',
  REAL: 'double precision',
}

let server: TestPostgres
let url: string
let sqlite: Database
let postgres: Client

beforeAll(async () => {
  if (postgresMissing !== undefined) return
  server = await startPostgres()
  url = await server.createDatabase()
  await Promise.all([migratePostgres(url), migratePostgres(url)]) // two processes that start together
  postgres = new Client({ connectionString: url })
  await postgres.connect()
  sqlite = openDatabase(':memory:')
  migrate(sqlite, serviceMigrations)
})
afterAll(async () => {
  await postgres?.end()
  sqlite?.close()
  await server?.stop()
})

const inSqlite = <T>(sql: string, ...params: unknown[]): T[] => sqlite.prepare<unknown[], T>(sql).all(...params)
const inPostgres = async <T extends object>(sql: string, params: unknown[] = []): Promise<T[]> =>
  (await postgres.query<T>(sql, params)).rows

const listTables = (): string[] =>
  inSqlite<{ name: string }>("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
    .map(({ name }) => name)
    .filter((name) => !ownTables.includes(name))
/** Returns the definition of a table without comments. */
const readDefinition = (table: string): string =>
  (inSqlite<{ sql: string }>("SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?", table)[0]?.sql ?? '')
    .replaceAll(/--[^\n]*/g, '')
    .replaceAll(/\s+/g, ' ')

/** Finds the expressions of the checks in a table definition. */
function findChecks(definition: string): string[] {
  return [...definition.matchAll(/CHECK \(/g)].map(({ index }) => {
    const start = index + 'CHECK '.length
    let depth = 0
    for (let end = start; end < definition.length; end += 1) {
      if (definition[end] === '(') depth += 1
      if (definition[end] === ')') depth -= 1
      if (depth === 0) return definition.slice(start, end + 1)
    }
    throw new Error(`A check of ${definition} is not closed.`)
  })
}

/** Translates an expression of the schema. PostgreSQL reserves the word `only`. */
const translate = (expression: string): string =>
  expression.replaceAll('instr(', 'strpos(').replaceAll(/\bonly\b/g, '"only"')

/** Returns expressions in the form in which PostgreSQL stores them, by using each on a copy of the table. */
async function normalize(table: string, expressions: readonly string[]): Promise<string[]> {
  const normal: string[] = []
  for (const expression of expressions) {
    await postgres.query('BEGIN')
    try {
      await postgres.query(`CREATE TEMPORARY TABLE copied (LIKE ${table}) ON COMMIT DROP`)
      await postgres.query(`ALTER TABLE copied ADD CONSTRAINT normalized CHECK ${translate(expression)}`)
      const [row] = await inPostgres<{ definition: string }>(
        "SELECT pg_get_constraintdef(oid) AS definition FROM pg_constraint WHERE conname = 'normalized'",
      )
      normal.push(row?.definition ?? '')
    } finally {
      await postgres.query('ROLLBACK')
    }
  }
  return normal.sort()
}

describe('the schema of the service', () => {
  skipWhen(postgresMissing)

  test('has the same version on both engines', () => {
    expect(postgresMigrations.at(-1)?.version).toBe(serviceMigrations.at(-1)?.version)
  })

  test('has the same tables and columns', async () => {
    const columns = listTables().map((table) => ({
      table,
      columns: inSqlite<{ name: string; type: string; notnull: number; dflt_value: string | null; pk: number }>(
        'SELECT * FROM pragma_table_info(?) ORDER BY cid',
        table,
      ).map(({ name, type, notnull, dflt_value, pk }) => ({
        name,
        type: postgresTypes[type],
        isNullable: notnull === 0 && pk === 0, // a key of a STRICT table is never null
        default: dflt_value,
      })),
    }))
    const rows = await inPostgres<{
      table: string
      name: string
      type: string
      nullable: string
      value: string | null
    }>(
      `SELECT table_name AS "table", column_name AS name, data_type AS type, is_nullable AS nullable,
        column_default AS value FROM information_schema.columns WHERE table_schema = 'public'
        ORDER BY table_name COLLATE "C", ordinal_position`,
    )
    const inBoth = Map.groupBy(rows, ({ table }) => table)
    const actual = [...inBoth]
      .filter(([table]) => !ownTables.includes(table))
      .map(([table, list]) => ({
        table,
        columns: list.map(({ name, type, nullable, value }) => ({
          name,
          type,
          isNullable: nullable === 'YES',
          default: value?.replace(/::text$/, '') ?? null,
        })),
      }))
    expect(actual).toEqual(columns)
  })

  test('compares all text by bytes', async () => {
    const others = await inPostgres(
      `SELECT table_name, column_name FROM information_schema.columns
        WHERE table_schema = 'public' AND data_type = 'text' AND collation_name IS DISTINCT FROM 'C'`,
    )
    expect(others).toEqual([])
  })

  test('has the same checks', async () => {
    for (const table of listTables()) {
      const actual = await inPostgres<{ definition: string }>(
        "SELECT pg_get_constraintdef(oid) AS definition FROM pg_constraint WHERE conrelid = $1::regclass AND contype = 'c'",
        [table],
      )
      const checks = actual.map(({ definition }) => definition).sort()
      expect({ table, checks }).toEqual({ table, checks: await normalize(table, findChecks(readDefinition(table))) })
    }
  })

  test('has the same keys, unique constraints and indexes', async () => {
    for (const table of listTables()) {
      const lists = inSqlite<{ name: string; unique: number; origin: string }>(
        'SELECT * FROM pragma_index_list(?)',
        table,
      )
      const own: { key: string; where: string }[] = []
      for (const { name, unique, origin } of lists) {
        const columns = inSqlite<{ name: string }>('SELECT name FROM pragma_index_info(?) ORDER BY seqno', name)
        const [row] = inSqlite<{ sql: string | null }>('SELECT sql FROM sqlite_schema WHERE name = ?', name)
        const where = / WHERE ([\s\S]*)$/.exec(row?.sql?.replaceAll(/\s+/g, ' ') ?? '')?.[1]
        const kind = origin === 'pk' ? 'primary' : unique === 1 ? 'unique' : 'index'
        const [normal = ''] = where === undefined ? [] : await normalize(table, [`(${where})`])
        own.push({ key: `${kind} ${columns.map((it) => it.name).join()}`, where: normal })
      }
      const integerKey = inSqlite<{ name: string; type: string; pk: number }>(
        'SELECT * FROM pragma_table_info(?)',
        table,
      ).filter(({ pk, type }) => pk > 0 && type === 'INTEGER')
      // The key of a table with an integer key has no index.
      if (!own.some(({ key }) => key.startsWith('primary')) && integerKey[0]) {
        own.push({ key: `primary ${integerKey[0].name}`, where: '' })
      }
      const actual = await inPostgres<{ primary: boolean; unique: boolean; columns: string[]; where: string | null }>(
        `SELECT indisprimary AS "primary", indisunique AS "unique", pg_get_expr(indpred, indrelid) AS "where",
          array(SELECT attname::text FROM unnest(indkey) WITH ORDINALITY AS k (number, place)
            JOIN pg_attribute ON attrelid = indrelid AND attnum = k.number ORDER BY place) AS columns
          FROM pg_index WHERE indrelid = $1::regclass`,
        [table],
      )
      const indexes = actual.map(({ primary, unique, columns, where }) => ({
        key: `${primary ? 'primary' : unique ? 'unique' : 'index'} ${columns.join()}`,
        where: where === null ? '' : `CHECK (${where})`,
      }))
      const sort = (list: typeof own) => list.toSorted((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
      expect({ table, indexes: sort(indexes) }).toEqual({ table, indexes: sort(own) })
    }
  })

  test('has the same foreign keys', async () => {
    for (const table of listTables()) {
      type ForeignKey = { id: number; table: string; from: string; to: string; on_delete: string }
      const keys = inSqlite<ForeignKey>('SELECT * FROM pragma_foreign_key_list(?) ORDER BY id, seq', table)
      const own = [...Map.groupBy(keys, ({ id }) => id).values()].map((columns) => {
        const [first] = columns
        const list = (name: 'from' | 'to') => columns.map((it) => it[name]).join(', ')
        const action = first?.on_delete === 'NO ACTION' ? '' : ` ON DELETE ${first?.on_delete}`
        return `FOREIGN KEY (${list('from')}) REFERENCES ${first?.table}(${list('to')})${action}`
      })
      const actual = await inPostgres<{ definition: string }>(
        "SELECT pg_get_constraintdef(oid) AS definition FROM pg_constraint WHERE conrelid = $1::regclass AND contype = 'f'",
        [table],
      )
      expect({ table, keys: actual.map(({ definition }) => definition).sort() }).toEqual({ table, keys: own.sort() })
    }
  })

  test('has the same triggers by table', async () => {
    const own = inSqlite<{ name: string; table: string }>(
      `SELECT name, tbl_name AS "table" FROM sqlite_schema WHERE type = 'trigger'`,
    ).map(({ table, name }) => `${table}: ${name}`)
    const actual = (
      await inPostgres<{ table: string; name: string }>(
        'SELECT tgrelid::regclass::text AS "table", tgname AS name FROM pg_trigger WHERE NOT tgisinternal',
      )
    ).map(({ table, name }) => `${table}: ${name}`)
    // PostgreSQL joins the two deletions of a sandbox's responses, and assigns sequences in the order of commits.
    const joined = 'sandboxes: idempotent_answers_of_created_sandbox'
    expect(actual.filter((it) => it !== 'removed_things: removed_things_order').sort()).toEqual(
      own.filter((it) => it !== joined).sort(),
    )
  })

  test('has no reserved word as a column that statements do not quote', async () => {
    const reserved = await inPostgres<{ name: string }>(
      `SELECT DISTINCT column_name AS name FROM information_schema.columns JOIN pg_get_keywords() ON word = column_name
        WHERE table_schema = 'public' AND catcode IN ('R', 'T')`,
    )
    expect(reserved.length).toBeGreaterThan(0)
    for (const { name } of reserved) {
      const table = defineTable('examples', { [name]: text() })
      expect(table.insert).toContain(`("${name}")`)
      expect(table.selection()).toBe(`"${name}" AS "${name}"`)
    }
  })

  test('of a newer Steward is refused and not changed', async () => {
    await postgres.query('INSERT INTO schema_migrations VALUES (1000, now())')
    await expect(migratePostgres(url)).rejects.toMatchObject({ code: 'data/newer' })
    await postgres.query('DELETE FROM schema_migrations WHERE version = 1000')
    await migratePostgres(url)
  })

  test('is not changed by a migration that fails', async () => {
    const version = (postgresMigrations.at(-1)?.version ?? 0) + 1
    const failing = { version, up: 'CREATE TABLE half_made (id bigint); SELECT 1 / 0' }
    await expect(migratePostgres(url, [...postgresMigrations, failing])).rejects.toThrow('division by zero')
    const names = await inPostgres("SELECT 1 FROM information_schema.tables WHERE table_name = 'half_made'")
    expect(names).toEqual([])
  })
})
