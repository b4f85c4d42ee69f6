import SqliteDatabase from 'better-sqlite3'
import { ConstraintError, type ConstraintKind, StoreUnavailableError } from '../store.ts'

const constraints: Readonly<Record<string, ConstraintKind>> = {
  SQLITE_CONSTRAINT_UNIQUE: 'unique',
  SQLITE_CONSTRAINT_PRIMARYKEY: 'unique',
  SQLITE_CONSTRAINT_ROWID: 'unique',
  SQLITE_CONSTRAINT_CHECK: 'check',
  SQLITE_CONSTRAINT_NOTNULL: 'not-null',
  SQLITE_CONSTRAINT_FOREIGNKEY: 'foreign-key',
  SQLITE_CONSTRAINT_TRIGGER: 'trigger',
}
/** The file is locked by another process, or cannot be read or written. */
const unavailable = /^SQLITE_(BUSY|LOCKED|FULL|IOERR|READONLY|CANTOPEN|PROTOCOL)/

/** Maps errors of SQLite to those of the store. Returns any other error unchanged. */
export function toStoreError(error: unknown): unknown {
  if (!(error instanceof SqliteDatabase.SqliteError)) return error
  const kind = constraints[error.code]
  if (kind) return new ConstraintError({ kind, ...readColumns(error.message) }, error)
  if (unavailable.test(error.code)) {
    return new StoreUnavailableError('The database cannot be read or written.', { cause: error })
  }
  return error
}

/** Reads `UNIQUE constraint failed: ports.sandbox_id, ports.port`. */
function readColumns(message: string): { table: string; columns: string[] } | undefined {
  const list = /^(?:UNIQUE|NOT NULL) constraint failed: (\w+\.\w+(?:, \w+\.\w+)*)$/.exec(message)?.[1]
  if (list === undefined) return undefined
  const names = list.split(', ').map((it) => it.split('.'))
  return { table: names[0]?.[0] ?? '', columns: names.map(([, column = '']) => column) }
}
