import { closeSync, fstatSync, openSync, renameSync, writeSync } from 'node:fs'

export type LogFile = { write(text: string | Uint8Array): void; close(): void }

const defaultMaxBytes = 8 * 1024 * 1024

/** Appends to a file only this user may read. A full one becomes `<path>.1`, so that at most two are kept. */
export function openLogFile(path: string, maxBytes = defaultMaxBytes): LogFile {
  let file = openSync(path, 'a', 0o600)
  let bytes = fstatSync(file).size
  let open = true
  return {
    write(text) {
      if (!open) return
      if (bytes >= maxBytes) {
        closeSync(file)
        renameSync(path, `${path}.1`)
        file = openSync(path, 'a', 0o600)
        bytes = 0
      }
      bytes += typeof text === 'string' ? writeSync(file, text) : writeSync(file, text)
    },
    close() {
      if (open) closeSync(file)
      open = false
    },
  }
}
