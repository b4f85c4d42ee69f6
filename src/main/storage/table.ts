import { parseJson } from '#platform/parsing/boundedJson.ts'

/** Codec of a column. `nullable` columns store `null` as NULL without the codec. */
export type Column<T> = {
  /** Name in the table. Default: the field name in snake case */
  name?: string
  /** SQL expression that reads the column. Default: its name */
  select?: (column: string) => string
  encode(value: T): StoredValue
  decode(value: StoredValue): T
}
export type StoredValue = string | number | bigint | Uint8Array | null
/** Named parameters of a statement. */
export type Params<Field extends string> = Readonly<Record<Field, StoredValue>>
/** Row returned by a statement, by field name. */
export type StoredRow = Readonly<Record<string, StoredValue>>

type Columns = Readonly<Record<string, Column<unknown>>>
/** Row of a table, with one field per column. */
export type RowOf<T extends { columns: Columns }> = {
  [K in keyof T['columns']]: T['columns'][K] extends Column<infer V> ? V : never
}

/**
 * Text column, or a branded id validated before it was stored. `parse` validates the value that was read, as for
 * `json`.
 */
export const text = <T extends string = string>(
  parse: (value: unknown) => T = (value) => value as T, // the value was written by encode
): Column<T> => ({ encode: (value) => value, decode: parse })

/**
 * Text column for any text of a client. PostgreSQL does not store U+0000, so a text that contains it is stored as JSON
 * behind a marker, and any other text unchanged.
 */
export const anyText: () => Column<string> = () => ({
  encode: (value) =>
    value.includes('\0') || value.startsWith(jsonMarker) ? `${jsonMarker}${JSON.stringify(value)}` : value,
  decode(value) {
    const stored = String(value)
    return stored.startsWith(jsonMarker) ? String(parseJson(stored.slice(jsonMarker.length))) : stored
  },
})
const jsonMarker = '\u0001json:'

/** Number column, or a time in milliseconds. `parse` validates the value that was read. */
export const number = <T extends number = number>(
  parse: (value: number) => T = (value) => value as T, // the value was written by encode
): Column<T> => ({ encode: (value) => value, decode: (value) => parse(Number(value)) })

/**
 * Integer column that may exceed 2^53, such as a token amount. Read as text, which both engines return without loss of
 * precision.
 */
export const amount: () => Column<bigint> = () => ({
  select: (column) => `CAST(${column} AS TEXT)`,
  encode: (value) => value,
  decode: (value) => BigInt(String(value)),
})

/** Boolean column, stored as 1 or 0. */
export const flag: () => Column<boolean> = () => ({
  encode: (value) => (value ? 1 : 0),
  decode: (value) => Number(value) === 1,
})

/** Blob column, read as a Buffer. */
export const bytes: () => Column<Buffer> = () => ({
  encode: (value) => value,
  decode: (value) => Buffer.from(value as Uint8Array), // the value was written by encode
})

/** JSON column. `parse` validates the value that was read, because other versions may have written it. */
export const json = <T>(parse: (value: unknown) => T = (value) => value as T): Column<T> => ({
  encode: (value) => JSON.stringify(value),
  decode: (value) => parse(parseJson(String(value))),
})

/** Like `json`, but returns `fallback` for text that is not JSON or that `parse` rejects. */
export const lenientJson = <T>(parse: (value: unknown) => T, fallback: T): Column<T> => ({
  encode: (value) => JSON.stringify(value),
  decode(value) {
    try {
      return parse(parseJson(String(value)))
    } catch {
      return fallback
    }
  },
})

/** Makes a column nullable. */
export const nullable = <T>({ name, select, encode, decode }: Column<T>): Column<T | null> => ({
  ...(name !== undefined && { name }),
  ...(select && { select }),
  encode: (value) => (value === null ? null : encode(value)),
  decode: (value) => (value === null ? null : decode(value)),
})

/** Sets a column name that differs from the field name. */
export const renameColumn = <T>(name: string, column: Column<T>): Column<T> => ({ ...column, name })

export type Table<C extends Columns> = {
  readonly columns: C
  /** Columns of a SELECT, aliased to their field names. `prefix` is the table alias in a join. */
  selection(prefix?: string): string
  /** `INSERT INTO … VALUES …` with one named parameter per column. */
  readonly insert: string
  /** Like `insert`, with expressions for additional columns, by column name. */
  insertWith(expressions: Readonly<Record<string, string>>): string
  /**
   * `INSERT INTO … SELECT …` with the columns of `insertWith`, for each row of `source`: the SQL after the selected
   * values, starting with `FROM` or `WHERE`. An expression with the name of a column replaces its parameter.
   */
  insertFrom(source: string, expressions?: Readonly<Record<string, string>>): string
  /** Inserts a row, or updates the columns of the row with the same key. `set` adds assignments of other columns. */
  upsert(key: readonly (keyof C & string)[], set?: string): string
  /** Assignments of named parameters to these fields, for `UPDATE … SET`. */
  assignments(fields: readonly (keyof C & string)[]): string
  /** Encodes these fields as named parameters. */
  params<F extends Partial<RowOf<{ columns: C }>>>(fields: F): Params<keyof F & string>
  /** Decodes a row of `selection`. */
  fromRow(row: StoredRow): RowOf<{ columns: C }>
  /** Like `fromRow`. @returns undefined if there is no row, or if a column cannot be decoded */
  tryFromRow(row: StoredRow | undefined): RowOf<{ columns: C }> | undefined
}

/** Column names that PostgreSQL reserves. A test finds further ones of the schema. */
const reservedNames: readonly string[] = ['authorization', 'only']

/**
 * Defines the columns of a table once, for the row type and for the SQL and codecs of statements. Executes nothing. The
 * SQL is valid in SQLite and PostgreSQL. A field `readAtMs` is stored in the column `read_at_ms`.
 */
export function defineTable<C extends Columns>(name: string, columns: C): Table<C> {
  const fields = Object.keys(columns) as (keyof C & string)[]
  const toColumn = (field: string): string => {
    const name = columns[field]?.name ?? field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
    return reservedNames.includes(name) ? `"${name}"` : name
  }
  const parameters = Object.fromEntries(fields.map((field) => [toColumn(field), `@${field}`]))
  const insertWith = (expressions: Readonly<Record<string, string>>): string => {
    const values = { ...parameters, ...expressions }
    return `INSERT INTO ${name} (${Object.keys(values).join(', ')}) VALUES (${Object.values(values).join(', ')})`
  }
  const insert = insertWith({})
  const fromRow = (row: StoredRow): RowOf<{ columns: C }> => {
    const values: Record<string, unknown> = {}
    for (const field of fields) values[field] = columns[field]?.decode(row[field] ?? null)
    return values as RowOf<{ columns: C }> // one value per column
  }
  return {
    columns,
    insert,
    insertWith,
    insertFrom(source, expressions) {
      const values = { ...parameters, ...expressions }
      return `INSERT INTO ${name} (${Object.keys(values).join(', ')}) SELECT ${Object.values(values).join(', ')} ${source}`
    },
    selection(prefix = '') {
      const read = (field: string): string => {
        const column = `${prefix === '' ? '' : `${prefix}.`}${toColumn(field)}`
        return `${columns[field]?.select?.(column) ?? column} AS "${field}"`
      }
      return fields.map(read).join(', ')
    },
    upsert(key, set) {
      const changed = fields
        .filter((it) => !key.includes(it))
        .map((field) => `${toColumn(field)} = excluded.${toColumn(field)}`)
      const assignments = [...changed, ...(set === undefined ? [] : [set])].join(', ')
      return `${insert} ON CONFLICT (${key.map(toColumn).join(', ')}) DO UPDATE SET ${assignments}`
    },
    assignments: (changes) => changes.map((field) => `${toColumn(field)} = @${field}`).join(', '),
    params(values) {
      const entries = Object.entries(values).map(([field, value]) => [field, columns[field]?.encode(value)])
      return Object.fromEntries(entries)
    },
    fromRow,
    tryFromRow(row) {
      try {
        return row && fromRow(row)
      } catch {
        return undefined
      }
    },
  }
}
