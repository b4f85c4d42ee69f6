import { parseJson } from '#platform/boundedJson.ts'

/** Codec of a column. `null` is stored as NULL by `nullable` columns, without their codec. */
export type Column<T> = {
  /** Name in the table. Default: the name of the field, in lower case with underscores */
  name?: string
  /** Expression that reads the column. Default: its name */
  select?: (column: string) => string
  encode(value: T): StoredValue
  decode(value: StoredValue): T
}
export type StoredValue = string | number | bigint | Uint8Array | null
/** Named parameters of a statement. */
export type Params<Field extends string> = Readonly<Record<Field, StoredValue>>
/** A row as a statement gives it, by field. */
export type StoredRow = Readonly<Record<string, StoredValue>>

type Columns = Readonly<Record<string, Column<unknown>>>
/** The row of a table, with one field for each column. */
export type RowOf<T extends { columns: Columns }> = {
  [K in keyof T['columns']]: T['columns'][K] extends Column<infer V> ? V : never
}

/** Text, or a branded id that was checked before it was stored. `parse` checks what was read, as for `json`. */
export const text = <T extends string = string>(
  parse: (value: unknown) => T = (value) => value as T, // written by encode
): Column<T> => ({ encode: (value) => value, decode: parse })

/** A number, or a time in milliseconds. `parse` checks what was read. */
export const number = <T extends number = number>(
  parse: (value: number) => T = (value) => value as T, // written by encode
): Column<T> => ({ encode: (value) => value, decode: (value) => parse(Number(value)) })

/** An integer that may exceed 2^53, such as a token amount. Read as text, which both engines return without loss of precision. */
export const amount: () => Column<bigint> = () => ({
  select: (column) => `CAST(${column} AS TEXT)`,
  encode: (value) => value,
  decode: (value) => BigInt(String(value)),
})

/** True or false, stored as 1 or 0. */
export const flag: () => Column<boolean> = () => ({
  encode: (value) => (value ? 1 : 0),
  decode: (value) => Number(value) === 1,
})

/** Bytes. The row holds a Buffer. */
export const bytes: () => Column<Buffer> = () => ({
  encode: (value) => value,
  decode: (value) => Buffer.from(value as Uint8Array), // written by encode
})

/** A value as JSON. `parse` checks what was read, for values that other versions may have written. */
export const json = <T>(parse: (value: unknown) => T = (value) => value as T): Column<T> => ({
  encode: (value) => JSON.stringify(value),
  decode: (value) => parse(parseJson(String(value))),
})

/** As `json`. What is not JSON, or what `parse` rejects, is read as `fallback`. */
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

/** A column that may be NULL. */
export const nullable = <T>({ name, select, encode, decode }: Column<T>): Column<T | null> => ({
  ...(name !== undefined && { name }),
  ...(select && { select }),
  encode: (value) => (value === null ? null : encode(value)),
  decode: (value) => (value === null ? null : decode(value)),
})

/** A column whose name is not the one of its field. */
export const renameColumn = <T>(name: string, column: Column<T>): Column<T> => ({ ...column, name })

export type Table<C extends Columns> = {
  readonly columns: C
  /** Columns of a SELECT, each under the name of its field. `prefix` is the alias of the table in a join. */
  selection(prefix?: string): string
  /** `INSERT INTO … VALUES …` with a named parameter for each column. */
  readonly insert: string
  /** As `insert`, with expressions for further columns, by their names. */
  insertWith(expressions: Readonly<Record<string, string>>): string
  /**
   * `INSERT INTO … SELECT …` of the columns of `insertWith`, for each row of `source`: the text after the selected values,
   * from `FROM` or `WHERE` on. An expression for the name of a column replaces its parameter.
   */
  insertFrom(source: string, expressions?: Readonly<Record<string, string>>): string
  /** Inserts a row, or replaces the columns of the row with the same key. `set` adds assignments of other columns. */
  upsert(key: readonly (keyof C & string)[], set?: string): string
  /** Assignments of these fields to their named parameters, for `UPDATE … SET`. */
  assignments(fields: readonly (keyof C & string)[]): string
  /** Named parameters of these fields. */
  params<F extends Partial<RowOf<{ columns: C }>>>(fields: F): Params<keyof F & string>
  /** Reads what a selection gave. */
  fromRow(row: StoredRow): RowOf<{ columns: C }>
  /** As `fromRow`. @returns undefined if there is no row, or if a column cannot be decoded */
  tryFromRow(row: StoredRow | undefined): RowOf<{ columns: C }> | undefined
}

/**
 * Describes the columns of a table once: for the row's type, and for the text and codecs of statements. Executes nothing;
 * the text is what SQLite and PostgreSQL both take. A field `readAtMs` is stored in the column `read_at_ms`.
 */
export function defineTable<C extends Columns>(name: string, columns: C): Table<C> {
  const fields = Object.keys(columns) as (keyof C & string)[]
  const toColumn = (field: string): string =>
    columns[field]?.name ?? field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  const parameters = Object.fromEntries(fields.map((field) => [toColumn(field), `@${field}`]))
  const insertWith = (expressions: Readonly<Record<string, string>>): string => {
    const values = { ...parameters, ...expressions }
    return `INSERT INTO ${name} (${Object.keys(values).join(', ')}) VALUES (${Object.values(values).join(', ')})`
  }
  const insert = insertWith({})
  const fromRow = (row: StoredRow): RowOf<{ columns: C }> => {
    const values: Record<string, unknown> = {}
    for (const field of fields) values[field] = columns[field]?.decode(row[field] ?? null)
    return values as RowOf<{ columns: C }> // one value for each column
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
      const changed = fields.filter((it) => !key.includes(it)).map((it) => `${toColumn(it)} = excluded.${toColumn(it)}`)
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
