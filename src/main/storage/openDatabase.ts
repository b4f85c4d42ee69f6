import { closeSync, openSync } from 'node:fs'
import SqliteDatabase from 'better-sqlite3'
import { AppError } from '../../shared/appError.ts'

export type Database = SqliteDatabase.Database

/** For SQLite, a database without a file. */
const inMemory = ':memory:'

/**
 * Opens the file, making it readable by this user only. Every commit survives a crash of the process;
 * the last ones before a power cut may be lost, never the file (WAL with `synchronous = NORMAL`).
 * @throws AppError `data/unusable`
 */
export function openDatabase(file: string): Database {
  try {
    if (file !== inMemory) closeSync(openSync(file, 'a', 0o600)) // SQLite gives its -wal and -shm files the mode of this one
    const database = new SqliteDatabase(file, { timeout: 5000 })
    database.pragma('journal_mode = WAL')
    database.pragma('synchronous = NORMAL')
    database.pragma('foreign_keys = ON')
    return database
  } catch (cause) {
    throw unusable(file, cause)
  }
}

function unusable(file: string, cause: unknown): AppError {
  const reason = cause instanceof Error ? cause.message : String(cause)
  return new AppError('data/unusable', `Cannot open ${file}: ${reason}`, { cause })
}
