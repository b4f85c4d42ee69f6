import { type FileHandle, open } from 'node:fs/promises'
import type { Database } from './openDatabase.ts'

/**
 * Flushes the write-ahead log of a database to disk, like `synchronous = FULL` at each commit, but on demand and
 * without blocking the committing thread. SQLite flushes pages itself before it moves them out of the log. It holds no
 * locks on this file that closing it would release: https://www.sqlite.org/wal.html
 */
export function logFlush(database: Database): { flush(): Promise<void>; close(): Promise<void> } {
  let opened: Promise<FileHandle> | undefined
  return {
    async flush() {
      opened ??= open(`${database.name}-wal`, 'r+') // exists from the first commit until the database is closed
      await (await opened).datasync()
    },
    async close() {
      await (await opened)?.close()
    },
  }
}
