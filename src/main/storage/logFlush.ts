import { type FileHandle, open } from 'node:fs/promises'
import type { Database } from './openDatabase.ts'

/**
 * Brings the write-ahead log of a database to the disk: what `synchronous = FULL` does at each commit, but when asked,
 * and without holding up the thread that commits. Whatever SQLite moved out of the log before, it has flushed itself.
 * SQLite holds no locks on this file that closing it would drop: https://www.sqlite.org/wal.html
 */
export function logFlush(database: Database): { flush(): Promise<void>; close(): Promise<void> } {
  let opened: Promise<FileHandle> | undefined
  return {
    async flush() {
      opened ??= open(`${database.name}-wal`, 'r+') // it is there from the first commit until the database is closed
      await (await opened).datasync()
    },
    async close() {
      await (await opened)?.close()
    },
  }
}
