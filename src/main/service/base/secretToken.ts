import { hash, timingSafeEqual } from 'node:crypto'

/** Secret tokens of one kind. A new token is shown once, and only its hash is stored. */
export type SecretTokens = {
  create(randomBytes: (count: number) => Buffer): string
  /** Whether a text has the format of such a token. */
  isOne(text: string): boolean
  /** @returns the result of `find` for the hash of the token; the hash is compared again in constant time */
  holder<H extends { hash: Buffer }>(token: string, find: (hash: Buffer) => H | undefined): H | undefined
  /** Like `holder`, for a lookup that waits for the store. */
  findHolder<H extends { hash: Buffer }>(
    token: string,
    find: (hash: Buffer) => Promise<H | undefined>,
  ): Promise<H | undefined>
}

/** Tokens consist of `prefix`, an underscore and 32 random bytes as 43 base64url characters. */
export function createSecretTokens(prefix: string): SecretTokens {
  const pattern = new RegExp(`^${prefix}_[A-Za-z0-9_-]{43}$`)
  const isOne = (text: string) => pattern.test(text)
  return {
    create: (randomBytes) => `${prefix}_${randomBytes(32).toString('base64url')}`,
    isOne,
    holder(token, find) {
      if (!isOne(token)) return undefined
      const hash = hashSecret(token)
      return matchHash(find(hash), hash)
    },
    async findHolder(token, find) {
      if (!isOne(token)) return undefined
      const hash = hashSecret(token)
      return matchHash(await find(hash), hash)
    },
  }
}

function matchHash<H extends { hash: Buffer }>(match: H | undefined, hash: Buffer): H | undefined {
  return match && timingSafeEqual(match.hash, hash) ? match : undefined
}

/** Hashes a secret of 32 random bytes, which needs neither a salt nor a slow hash. */
export function hashSecret(secret: string): Buffer {
  return hash('sha256', secret, 'buffer')
}
