import { authLimits } from '#shared/contract/auth.ts'
import type { NonceRepository } from './nonceRepository.ts'

export type Nonces = {
  create(): { nonce: string; expiresAtMs: number }
  /** Invalidates nonces. @returns the nonces that were valid, with their expiry */
  spend(named: readonly string[]): ReadonlyMap<string, number>
}

/**
 * Far more than concurrent sign-ins need. Above this, the oldest nonces are dropped, so that a flood blocks other users
 * only briefly.
 */
const maxOutstanding = 20_000
const trimEvery = 256

export function createNonces(options: {
  records: NonceRepository
  now: () => number
  randomBytes: (count: number) => Buffer
}): Nonces {
  const { records, now, randomBytes } = options
  let nonceCount = 0
  return {
    create() {
      // 128 random bits. Hexadecimal digits are alphanumeric, as EIP-4361 requires.
      const nonce = randomBytes(16).toString('hex')
      const expiresAtMs = now() + authLimits.nonceMs
      records.removeExpired(now())
      records.add(nonce, expiresAtMs)
      nonceCount += 1
      if (nonceCount % trimEvery === 0) records.trim(maxOutstanding)
      return { nonce, expiresAtMs }
    },
    spend(named) {
      const good = new Map<string, number>()
      for (const nonce of new Set(named)) {
        const expiresAtMs = records.take(nonce)
        if (expiresAtMs !== undefined && expiresAtMs > now()) good.set(nonce, expiresAtMs)
      }
      return good
    },
  }
}
