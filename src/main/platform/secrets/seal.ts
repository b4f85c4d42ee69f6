import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

/** Base64 of a 12-byte nonce, the ciphertext and a 16-byte tag. */
export type Sealed = string

const algorithm = 'aes-256-gcm'
const nonceBytes = 12
const tagBytes = 16

/** Encrypts with AES-256-GCM and a random nonce. `about` is associated data: decryption requires the same value. */
export function seal(key: Uint8Array, plain: Uint8Array, about: string): Sealed {
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv(algorithm, key, nonce, { authTagLength: tagBytes }).setAAD(Buffer.from(about))
  const sealed = Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()])
  return sealed.toString('base64')
}

/** Decrypts a sealed text. @returns undefined if the key or `about` differs, or if the bytes were modified */
export function unseal(key: Uint8Array, sealed: Sealed, about: string): Buffer | undefined {
  const bytes = Buffer.from(sealed, 'base64')
  if (bytes.length < nonceBytes + tagBytes || bytes.toString('base64') !== sealed) return undefined
  const cipher = createDecipheriv(algorithm, key, bytes.subarray(0, nonceBytes), { authTagLength: tagBytes })
  cipher.setAAD(Buffer.from(about)).setAuthTag(bytes.subarray(-tagBytes))
  const plain = cipher.update(bytes.subarray(nonceBytes, -tagBytes))
  try {
    cipher.final()
    return plain
  } catch {
    plain.fill(0)
    return undefined
  }
}
