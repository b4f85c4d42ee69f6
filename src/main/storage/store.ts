import { AppError } from '#shared/appError.ts'
import type { Params, StoredRow } from './table.ts'

/**
 * Database of the service: SQLite or PostgreSQL. Both engines give the same results, errors and isolation, as
 * test/contract/store.test.ts shows.
 */
export type Store = {
  /** Reads committed data. Each call is one statement and sees one state of the database. */
  readonly read: Query
  /**
   * Runs `work` in a serializable transaction and commits it once its promise resolves. Rolls back and rejects if
   * `work` rejects, also with an AppError. Resolves after the commit, which survives a crash of this process.
   *
   * `work` may await nothing but calls of `tx`, and must not call `read` or `write` of the store. PostgreSQL repeats it
   * after a conflict with another transaction, so it must not have effects outside `tx`: collect events in a local
   * variable, return them, and publish them after `write` has resolved.
   * @throws ConstraintError, StoreUnavailableError, errors of `work`, the reason of `signal`
   */
  write<T>(work: (tx: Transaction) => Promise<T>, options?: WriteOptions): Promise<T>
  /** Waits for work under way, at most 5 seconds, and closes all connections. Later calls are rejected. */
  close(): Promise<void>
}

export type WriteOptions = {
  /** Rolls back the transaction when it aborts. Ignored once the commit has begun. */
  signal?: AbortSignal
  /** Resolves only once the commit also survives a power failure. Always so on PostgreSQL. Default: false */
  isDurable?: boolean
  /**
   * Isolation on PostgreSQL. `read committed` is for work that locks each row it decides on before it reads anything
   * that depends on it. SQLite is always serializable. Default: `serializable`
   */
  isolation?: 'serializable' | 'read committed'
}

/**
 * Reads rows. An integer is read as a number, and beyond 2^53 only with the codec `amount`. A boolean expression is
 * read as 1 or 0.
 * @throws StoreUnavailableError
 */
export type Query = {
  /** @returns the first row, or undefined if there is none */
  first<P extends AnyParams, T>(statement: RowStatement<P, T>, ...params: ParamsArgument<P>): Promise<T | undefined>
  all<P extends AnyParams, T>(statement: RowStatement<P, T>, ...params: ParamsArgument<P>): Promise<T[]>
}

/**
 * Statements of one transaction. They run in the order of the calls. A failed statement ends the transaction: `write`
 * rejects with its error, also if `work` catches it. Use `ON CONFLICT` for violations that are expected.
 */
export type Transaction = Query & {
  /**
   * @returns the number of inserted, updated or deleted rows, without those changed by triggers and foreign keys
   * @throws ConstraintError, StoreUnavailableError
   */
  run<P extends AnyParams>(statement: Statement<P>, ...params: ParamsArgument<P>): Promise<number>
}

/** Text for both engines, or one text for each where the dialects differ. Parameters are named: `@accountId`. */
export type SqlText = string | { readonly sqlite: string; readonly postgres: string }

export type AnyParams = Params<string> | NoParams
/** Parameters of a statement that has none. */
type NoParams = Record<never, never>
/** Parameters as the last argument, which statements without parameters do not take. */
export type ParamsArgument<P> = keyof P extends never ? [] : [params: P]

/** Statement with named parameters `P`. Adapters compile each object once. */
export type Statement<P extends AnyParams> = {
  readonly sqlite: string
  readonly postgres: string
  /** Never set. Carries the type of the parameters. */
  readonly params?: P
}

/** Statement that returns rows. */
export type RowStatement<P extends AnyParams, T> = Statement<P> & { decode(row: StoredRow): T }

export type StatementDefinition<P extends AnyParams> = Statement<P> & {
  /** Returns the statement with a decoder of its rows, such as `fromRow` of a table. */
  withRows<T>(decode: (row: StoredRow) => T): RowStatement<P, T>
}

/**
 * Defines a statement. Call it once, outside of functions: adapters prepare each statement object.
 * @example defineStatement<Params<'id'>>(`SELECT ${accounts.selection()} FROM accounts WHERE id = @id`)
 *   .withRows(accounts.fromRow)
 */
export function defineStatement<P extends AnyParams = NoParams>(sql: SqlText): StatementDefinition<P> {
  const texts = typeof sql === 'string' ? { sqlite: sql, postgres: sql } : sql
  return { ...texts, withRows: (decode) => ({ ...texts, decode }) }
}

/** `trigger`: a trigger of the schema refused the change. */
export type ConstraintKind = 'unique' | 'check' | 'not-null' | 'foreign-key' | 'trigger'

/** Violation of a constraint by a statement. The transaction is rolled back. Contains no values. */
export class ConstraintError extends Error {
  readonly kind: ConstraintKind
  /** Known for `unique` and `not-null`. */
  readonly table: string | undefined
  /** Columns of the table. Known for `unique`, except of an index over expressions, and for `not-null`. */
  readonly columns: readonly string[]

  constructor(violation: { kind: ConstraintKind; table?: string; columns?: readonly string[] }, cause: Error) {
    const { kind, table, columns = [] } = violation
    const target = [table, columns.join(', ')].filter((value) => value !== undefined && value !== '').join(': ')
    super(`A constraint refused the change: ${kind}${target === '' ? '' : ` (${target})`}.`, { cause })
    this.name = 'ConstraintError'
    this.kind = kind
    this.table = table
    this.columns = columns
  }
}

/** Whether the error is a violation of the unique constraint over these columns, in any order. */
export function isDuplicate(error: unknown, table: string, columns: readonly string[]): boolean {
  if (!(error instanceof ConstraintError) || error.kind !== 'unique' || error.table !== table) return false
  return error.columns.length === columns.length && columns.every((it) => error.columns.includes(it))
}

/**
 * The database cannot be reached, did not respond in time, refused the connection, or rolled back every attempt because
 * of conflicts.
 */
export class StoreUnavailableError extends AppError {
  /** Whether the transaction may have been committed: the connection was lost while the commit was under way. */
  readonly isOutcomeUnknown: boolean

  constructor(message: string, { cause, isOutcomeUnknown = false }: { cause?: unknown; isOutcomeUnknown?: boolean }) {
    super('data/unavailable', message, { cause, retryAfterSeconds: 2 })
    this.name = 'StoreUnavailableError'
    this.isOutcomeUnknown = isOutcomeUnknown
  }
}
