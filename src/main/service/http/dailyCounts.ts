export type DailyCounts = {
  /** Counts one more of `name`. @returns 0, or after how many seconds there is room again */
  take(name: string): number
}

const dayMs = 86_400_000
const maxNames = 10_000

/**
 * Limits each name to `max` in the 24 hours from its first use. Rejections do not count. Names are stored for a day.
 */
export function createDailyCounts({ max, now }: { max: number; now: () => number }): DailyCounts {
  const days = new Map<string, { count: number; endsAtMs: number }>()
  const forgetOld = (nowMs: number): void => {
    for (const [name, { endsAtMs }] of days) {
      // The first to begin are the first to end.
      if (endsAtMs > nowMs && days.size <= maxNames) return
      days.delete(name)
    }
  }
  return {
    take(name) {
      const nowMs = now()
      const count = days.get(name)
      const day = count && count.endsAtMs > nowMs ? count : { count: 0, endsAtMs: nowMs + dayMs }
      if (day.count >= max) return Math.ceil((day.endsAtMs - nowMs) / 1000)
      day.count += 1
      if (day !== count) {
        days.delete(name) // set again, as the newest
        days.set(name, day)
        forgetOld(nowMs)
      }
      return 0
    },
  }
}
