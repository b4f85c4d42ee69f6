export type FailureLimiter = {
  /** Counts one failure of `address`. @returns seconds to wait before the next one, 0 while there is room. */
  fail(address: string): number
}

const burst = 30
const refillPerSecond = 1
const knownAddresses = 10_000

/**
 * A bucket for each address that holds `burst` failures and gains one a second.
 * Only failures are counted and only failures are held up: a good key is never made to wait.
 */
export function failureLimiter(now: () => number): FailureLimiter {
  const buckets = new Map<string, { left: number; atMs: number }>()
  return {
    fail(address) {
      const atMs = now()
      const bucket = buckets.get(address)
      const gained = bucket ? ((atMs - bucket.atMs) / 1000) * refillPerSecond : 0
      const left = Math.min(burst, (bucket?.left ?? burst) + Math.max(0, gained)) - 1
      buckets.delete(address) // set again below, as the newest
      buckets.set(address, { left: Math.max(left, -1), atMs })
      if (buckets.size > knownAddresses) {
        const [oldest] = buckets.keys()
        if (oldest !== undefined) buckets.delete(oldest)
      }
      return left >= 0 ? 0 : Math.ceil(-left / refillPerSecond)
    },
  }
}
