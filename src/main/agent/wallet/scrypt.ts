import { scrypt as nodeScrypt } from 'node:crypto'

export type ScryptCost = { n: number; r: number; p: number }

/** Derives on a thread of the pool: it takes most of a second and 128 × n × r bytes. */
export function scrypt(secret: Uint8Array, salt: Uint8Array, given: ScryptCost & { bytes: number }): Promise<Buffer> {
  const { n, r, p, bytes } = given
  const maxmem = 128 * r * (n + p + 8)
  return new Promise((resolve, reject) => {
    nodeScrypt(secret, salt, bytes, { N: n, r, p, maxmem }, (failure, key) =>
      failure ? reject(failure) : resolve(key),
    )
  })
}
