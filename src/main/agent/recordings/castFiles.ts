import { createReadStream, mkdirSync } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import { join } from 'node:path'

/** Files of recordings. They contain all terminal output, including passwords, so only this user may read them. */
export type CastFiles = {
  /**
   * Writes after the first `at` bytes. Bytes that a crash left after this offset are overwritten.
   * @returns the new length
   */
  append(id: string, seconds: number, text: string): Promise<number>
  read(id: string, bytes: number): AsyncIterable<Uint8Array>
  remove(id: string): Promise<void>
}

export function createCastFiles(folder: string): CastFiles {
  const getPath = (id: string): string => join(folder, `${id}.cast`)
  let isFolderCreated = false
  return {
    async append(id, seconds, text) {
      if (!isFolderCreated) mkdirSync(folder, { recursive: true, mode: 0o700 })
      isFolderCreated = true
      const bytes = Buffer.from(text)
      const file = await open(getPath(id), seconds === 0 ? 'w' : 'r+', 0o600)
      try {
        await file.write(bytes, 0, bytes.length, seconds)
        await file.truncate(seconds + bytes.length)
      } finally {
        await file.close()
      }
      return seconds + bytes.length
    },
    // Reads complete lines only, because more may be appended concurrently.
    read: (id, bytes) =>
      bytes === 0 ? createEmptyStream() : createReadStream(getPath(id), { start: 0, end: bytes - 1 }),
    remove: (id) => rm(getPath(id), { force: true }),
  }
}

async function* createEmptyStream(): AsyncGenerator<Uint8Array> {}

/** @see https://docs.asciinema.org/manual/asciicast/v2/ */
export function formatCastHeader(about: { cols: number; rows: number; startedAtMs: number; title: string }): string {
  const { cols, rows, startedAtMs, title } = about
  const header = { version: 2, width: cols, height: rows, timestamp: Math.floor(startedAtMs / 1000), title }
  return `${JSON.stringify(header)}\n`
}

/** `o` is output, `r` a new size such as `120x40`. Times are in seconds with microsecond precision. */
export function formatCastEvent(atMs: number, code: 'o' | 'r', data: string): string {
  return `${JSON.stringify([Math.max(0, Math.round(atMs * 1000)) / 1e6, code, data])}\n`
}
