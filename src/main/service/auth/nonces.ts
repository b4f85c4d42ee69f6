import { authLimits } from '#shared/contract/auth.ts'
import type { Store } from '#storage/store.ts'
import { nonceRepository } from './nonceRepository.ts'

export type Nonces = {
  /** @throws StoreUnavailableError */
  create(): Promise<{ nonce: string; expiresAtMs: number }>
  /**
   * Invalidates the first 16 nonces. Of two processes that spend the same nonce, one gets it.
   * @returns the nonces that were valid, with their expiry
   * @throws StoreUnavailableError
   */
  spend(named: readonly string[]): Promise<ReadonlyMap<string, number>>
}

/**
 * Far more than concurrent sign-ins need. Above this, the oldest nonces are dropped, so that a flood blocks other users
 * only briefly.
 */
const maxOutstanding = 20_000
const defaultTrimEvery = 256
/** A valid message has one nonce. Bounds the statements for a message that repeats the line. */
const maxSpentNonces = 16

export function createNonces(options: {
  store: Store
  now: () => number
  randomBytes: (count: number) => Buffer
  /** Maximum number of outstanding nonces. Default: 20,000 */
  maxNonces?: number
  /** Number of created nonces after which the oldest are dropped. Default: 256 */
  trimEvery?: number
}): Nonces {
  const { store, now, randomBytes, maxNonces = maxOutstanding, trimEvery = defaultTrimEvery } = options
  let nonceCount = 0
  return {
    async create() {
      // 128 random bits. Hexadecimal digits are alphanumeric, as EIP-4361 requires.
      const nonce = randomBytes(16).toString('hex')
      const nowMs = now()
      const expiresAtMs = nowMs + authLimits.nonceMs
      nonceCount += 1
      const isTrimDue = nonceCount % trimEvery === 0
      await store.write(async (tx) => {
        await nonceRepository.removeExpired(tx, nowMs)
        await nonceRepository.add(tx, nonce, expiresAtMs)
        if (isTrimDue) await nonceRepository.trim(tx, maxNonces)
      })
      return { nonce, expiresAtMs }
    },
    async spend(named) {
      const names = new Set(named.slice(0, maxSpentNonces))
      if (names.size === 0) return new Map()
      const nowMs = now()
      return store.write(async (tx) => {
        const valid = new Map<string, number>()
        for (const nonce of names) {
          const expiresAtMs = await nonceRepository.take(tx, nonce)
          if (expiresAtMs !== undefined && expiresAtMs > nowMs) valid.set(nonce, expiresAtMs)
        }
        return valid
      })
    },
  }
}
