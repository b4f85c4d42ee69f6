export type TokenBuckets = {
  /** Takes one of what `name` has left. @returns 0, or after how many seconds there is one again */
  take(name: string): number
}

const maxNames = 10_000

/** A bucket for each name that holds `burst` and gains `perSecond`. Refusals cost nothing. The names used last are known. */
export function createTokenBuckets(options: { burst: number; perSecond: number; now: () => number }): TokenBuckets {
  const { burst, perSecond, now } = options
  const buckets = new Map<string, { tokens: number; atMs: number }>()
  return {
    take(name) {
      const atMs = now()
      const bucket = buckets.get(name)
      const gained = bucket ? Math.max(0, ((atMs - bucket.atMs) / 1000) * perSecond) : 0
      const available = Math.min(burst, (bucket?.tokens ?? burst) + gained)
      const isAvailable = available >= 1
      buckets.delete(name) // set again below, as the newest
      buckets.set(name, { tokens: isAvailable ? available - 1 : available, atMs })
      if (buckets.size > maxNames) {
        const [oldest] = buckets.keys()
        if (oldest !== undefined) buckets.delete(oldest)
      }
      return isAvailable ? 0 : Math.ceil((1 - available) / perSecond)
    },
  }
}
