export type TokenBuckets = {
  /** Takes one of what `name` has left. @returns 0, or after how many seconds there is one again */
  take(name: string): number
}

const knownNames = 10_000

/** A bucket for each name that holds `burst` and gains `perSecond`. Refusals cost nothing. The names used last are known. */
export function tokenBuckets(options: { burst: number; perSecond: number; now: () => number }): TokenBuckets {
  const { burst, perSecond, now } = options
  const buckets = new Map<string, { left: number; atMs: number }>()
  return {
    take(name) {
      const atMs = now()
      const bucket = buckets.get(name)
      const gained = bucket ? Math.max(0, ((atMs - bucket.atMs) / 1000) * perSecond) : 0
      const available = Math.min(burst, (bucket?.left ?? burst) + gained)
      const taken = available >= 1
      buckets.delete(name) // set again below, as the newest
      buckets.set(name, { left: taken ? available - 1 : available, atMs })
      if (buckets.size > knownNames) {
        const [oldest] = buckets.keys()
        if (oldest !== undefined) buckets.delete(oldest)
      }
      return taken ? 0 : Math.ceil((1 - available) / perSecond)
    },
  }
}
