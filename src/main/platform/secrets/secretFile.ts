import { chmodSync, readFileSync, renameSync, writeFileSync } from 'node:fs'

/** Writes a file for this user only and renames it into place, so that a partial file is never visible. */
export function writeSecretFile(file: string, text: string): void {
  const beside = `${file}.new`
  writeFileSync(beside, text, { mode: 0o600 })
  chmodSync(beside, 0o600)
  renameSync(beside, file)
}

/** @returns undefined if the file does not exist or cannot be read */
export function readSecretFile(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch {
    return undefined
  }
}
