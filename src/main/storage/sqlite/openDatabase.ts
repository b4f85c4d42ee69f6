import { closeSync, openSync } from 'node:fs'
import SqliteDatabase from 'better-sqlite3'
import { AppError } from '#shared/appError.ts'

export type Database = SqliteDatabase.Database

/** SQLite's name for an in-memory database. */
const inMemory = ':memory:'

/**
 * Opens a database file, readable by this user only. Every commit survives a crash of the process. A power failure may
 * lose the last commits, but does not corrupt the file (WAL with `synchronous = NORMAL`).
 * @param check whether to check the whole file for damage, as after a crash
 * @throws AppError `data/unusable`, `data/damaged`
 */
export function openDatabase(file: string, { check = false }: { check?: boolean } = {}): Database {
  try {
    // SQLite creates the -wal and -shm files with the same mode
    if (file !== inMemory) closeSync(openSync(file, 'a', 0o600))
    const database = new SqliteDatabase(file, { timeout: 5000 })
    try {
      // Only affects new files. Allows returning free pages to the file system.
      database.pragma('auto_vacuum = INCREMENTAL')
      database.pragma('journal_mode = WAL')
      database.pragma('synchronous = NORMAL')
      database.pragma('foreign_keys = ON')
      if (check) checkDatabase(file, database)
      return database
    } catch (error) {
      database.close()
      throw error
    }
  } catch (cause) {
    if (cause instanceof AppError) throw cause
    throw isDamage(cause) ? createDamagedError(file, toMessage(cause), cause) : createUnusableError(file, cause)
  }
}

/** @throws AppError `data/damaged` */
function checkDatabase(file: string, database: Database): void {
  // column name of the pragma
  const [first] = database.pragma('quick_check(1)', { simple: false }) as { quick_check: string }[]
  if (first?.quick_check !== 'ok') throw createDamagedError(file, first?.quick_check ?? 'no result')
}

function isDamage(cause: unknown): boolean {
  return cause instanceof SqliteDatabase.SqliteError && cause.code.startsWith('SQLITE_CORRUPT')
}

function createDamagedError(file: string, reason: string, cause?: unknown): AppError {
  return new AppError('data/damaged', `The database ${file} is damaged: ${reason}.`, { cause })
}

function createUnusableError(file: string, cause: unknown): AppError {
  return new AppError('data/unusable', `Cannot open ${file}: ${toMessage(cause)}`, { cause })
}

function toMessage(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause)
}
