export type TokenBuckets = {
  /**
   * Takes `count` tokens from the bucket of `name`. Default: 1
   * @returns 0, or the seconds until enough tokens are available
   */
  take(name: string, count?: number): number
}

const maxNames = 10_000

/**
 * Creates token buckets by name. Each has a capacity of `burst` and refills at `perSecond`. Refused calls take no
 * tokens. Only the most recently used buckets are stored.
 */
export function createTokenBuckets(options: { burst: number; perSecond: number; now: () => number }): TokenBuckets {
  const { burst, perSecond, now } = options
  const buckets = new Map<string, { tokens: number; atMs: number }>()
  return {
    take(name, count = 1) {
      const atMs = now()
      const bucket = buckets.get(name)
      const gained = bucket ? Math.max(0, ((atMs - bucket.atMs) / 1000) * perSecond) : 0
      const available = Math.min(burst, (bucket?.tokens ?? burst) + gained)
      const isAvailable = available >= count
      buckets.delete(name) // set again below to move it to the end
      buckets.set(name, { tokens: isAvailable ? available - count : available, atMs })
      if (buckets.size > maxNames) {
        const [oldest] = buckets.keys()
        if (oldest !== undefined) buckets.delete(oldest)
      }
      return isAvailable ? 0 : Math.ceil((count - available) / perSecond)
    },
  }
}
