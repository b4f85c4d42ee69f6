import { scrypt as nodeScrypt } from 'node:crypto'

export type ScryptCost = { n: number; r: number; p: number }
type ScryptOptions = ScryptCost & { bytes: number }

/** Memory that the implementation needs in addition to the algorithm's 128 × n × r bytes. */
const slackBytes = 1024 * 1024

/**
 * Derives a key with scrypt (RFC 7914) on a pool thread. Takes most of a second and 128 × n × r bytes.
 * @see https://www.rfc-editor.org/rfc/rfc7914
 */
export async function deriveScryptKey(secret: Uint8Array, salt: Uint8Array, options: ScryptOptions): Promise<Buffer> {
  const { n, r, p, bytes } = options
  if (Math.log2(n) >= 16 * r) return deriveUnusualScryptKey(secret, salt, options)
  const maxmem = 128 * r * (n + p) + slackBytes
  return new Promise((resolve, reject) => {
    nodeScrypt(secret, salt, bytes, { N: n, r, p, maxmem }, (error, key) => (error ? reject(error) : resolve(key)))
  })
}

/** Supports values of n that OpenSSL rejects according to the RFC, but that keystore files use. Yields every 10 ms. */
async function deriveUnusualScryptKey(
  secret: Uint8Array,
  salt: Uint8Array,
  { n, r, p, bytes }: ScryptOptions,
): Promise<Buffer> {
  const { scryptAsync } = await import('@noble/hashes/scrypt')
  return Buffer.from(await scryptAsync(secret, salt, { N: n, r, p, dkLen: bytes }))
}
