import { hash, timingSafeEqual } from 'node:crypto'

/** Secrets of one kind. A new one is shown once, and only its hash is stored. */
export type SecretTokens = {
  create(randomBytes: (count: number) => Buffer): string
  /** Whether a text has the form of one. */
  isOne(text: string): boolean
  /** @returns what `find` has under the hash of the token; compared once more, in constant time */
  holder<H extends { hash: Buffer }>(token: string, find: (hash: Buffer) => H | undefined): H | undefined
}

/** `prefix`, an underscore and 32 random bytes: 43 characters of base64url. */
export function createSecretTokens(prefix: string): SecretTokens {
  const pattern = new RegExp(`^${prefix}_[A-Za-z0-9_-]{43}$`)
  const isOne = (text: string) => pattern.test(text)
  return {
    create: (randomBytes) => `${prefix}_${randomBytes(32).toString('base64url')}`,
    isOne,
    holder(token, find) {
      if (!isOne(token)) return undefined
      const hash = hashSecret(token)
      const match = find(hash)
      return match && timingSafeEqual(match.hash, hash) ? match : undefined
    },
  }
}

/** A secret of 32 random bytes needs no salt and no slow hash. */
export function hashSecret(secret: string): Buffer {
  return hash('sha256', secret, 'buffer')
}
