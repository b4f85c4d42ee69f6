import type { Database } from './openDatabase.ts'

/** Bounds the time of one call. */
const maxPages = 1_000

/** Returns free pages to the file system, as autovacuum does on PostgreSQL. */
export function releaseFreePages(database: Database): void {
  database.pragma(`incremental_vacuum(${maxPages})`)
}
