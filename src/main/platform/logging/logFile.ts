import { closeSync, fstatSync, openSync, renameSync, writeSync } from 'node:fs'

export type LogFile = { write(text: string | Uint8Array): void; close(): void }

const defaultMaxBytes = 5 * 1024 * 1024
const olderFiles = 2

/**
 * Opens a log file for appending, readable by this user only. A full file is rotated to `<path>.1`, and that one to
 * `<path>.2`, so at most three files exist.
 */
export function openLogFile(path: string, maxBytes = defaultMaxBytes): LogFile {
  let file = openSync(path, 'a', 0o600)
  let bytes = fstatSync(file).size
  let open = true
  return {
    write(text) {
      if (!open) return
      if (bytes >= maxBytes) {
        closeSync(file)
        rotate(path)
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

function rotate(path: string): void {
  for (let older = olderFiles; older > 0; older--) {
    const newer = older === 1 ? path : `${path}.${older - 1}`
    try {
      renameSync(newer, `${path}.${older}`)
    } catch (error) {
      // A removed file is recreated by the next write.
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error
    }
  }
}
