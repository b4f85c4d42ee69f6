import { type FileHandle, open } from 'node:fs/promises'
import type { Database } from './openDatabase.ts'

/**
 * Flushes the write-ahead log of a database to disk, like `synchronous = FULL` at each commit, but on demand and
 * without blocking the committing thread. SQLite flushes pages itself before it moves them out of the log. It holds no
 * locks on this file that closing it would release: https://www.sqlite.org/wal.html
 *
 * After a failed flush, every later one fails too: the system may have dropped pages that it could not write.
 */
export function logFlush(database: Database): { flush(): Promise<void>; close(): Promise<void> } {
  let opened: Promise<FileHandle> | undefined
  let failure: { error: unknown } | undefined
  return {
    async flush() {
      if (failure) throw failure.error
      try {
        opened ??= open(`${database.name}-wal`, 'r+') // exists from the first commit until the database is closed
        await (await opened).datasync()
      } catch (error) {
        failure = { error }
        throw error
      }
    },
    async close() {
      await (await opened?.catch(() => undefined))?.close()
    },
  }
}
