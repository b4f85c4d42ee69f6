export type DailyCounts = {
  /** Counts one more of `name`. @returns 0, or after how many seconds there is room again */
  take(name: string): number
}

const dayMs = 86_400_000
const knownNames = 10_000

/** So many for each name in the 24 hours from its first. Refusals cost nothing. Names of the last day are known. */
export function dailyCounts({ most, now }: { most: number; now: () => number }): DailyCounts {
  const days = new Map<string, { count: number; endsAtMs: number }>()
  const forgetOld = (nowMs: number): void => {
    for (const [name, { endsAtMs }] of days) {
      // The first to begin are the first to end.
      if (endsAtMs > nowMs && days.size <= knownNames) return
      days.delete(name)
    }
  }
  return {
    take(name) {
      const nowMs = now()
      const known = days.get(name)
      const day = known && known.endsAtMs > nowMs ? known : { count: 0, endsAtMs: nowMs + dayMs }
      if (day.count >= most) return Math.ceil((day.endsAtMs - nowMs) / 1000)
      day.count += 1
      if (day !== known) {
        days.delete(name) // set again, as the newest
        days.set(name, day)
        forgetOld(nowMs)
      }
      return 0
    },
  }
}
