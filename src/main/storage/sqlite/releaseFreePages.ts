import type { Database } from './openDatabase.ts'

/** Bounds the time of one call. */
const maxPages = 1_000

/** Returns free pages to the file system. PostgreSQL does so by itself. */
export function releaseFreePages(database: Database): void {
  database.pragma(`incremental_vacuum(${maxPages})`)
}
