import { chmodSync } from 'node:fs'
import { readSecretFile, writeSecretFile } from '#platform/secrets/secretFile.ts'

const pattern = /^[A-Za-z0-9_-]{43}$/

/**
 * Reads the key that signs access tokens: 32 bytes in a file that only this OS user can read. Deleting the file
 * invalidates every token.
 */
export function readTokenSecret(file: string, randomBytes: (count: number) => Buffer): Buffer {
  const stored = readSecretFile(file)
  if (stored !== undefined && pattern.test(stored)) {
    chmodSync(file, 0o600)
    return Buffer.from(stored, 'base64url')
  }
  const secret = randomBytes(32)
  writeSecretFile(file, `${secret.toString('base64url')}\n`)
  return secret
}
