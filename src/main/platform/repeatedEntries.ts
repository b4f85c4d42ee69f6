export type RepeatedEntries = {
  /** Returns undefined to suppress the entry; otherwise the number suppressed since the last written one. */
  recordEntry(entry: string): { unwritten: number } | undefined
}

const windowMs = 60_000
const writtenPerWindow = 20
/** Maximum number of distinct entries that are remembered. The oldest is evicted first. */
const maxKinds = 500

export function createRepeatedEntries(now: () => number): RepeatedEntries {
  const kinds = new Map<string, { sinceMs: number; count: number }>()
  return {
    recordEntry(entry) {
      const present = kinds.get(entry)
      if (present && now() - present.sinceMs < windowMs) {
        present.count += 1
        return present.count <= writtenPerWindow ? { unwritten: 0 } : undefined
      }
      kinds.delete(entry)
      kinds.set(entry, { sinceMs: now(), count: 1 })
      const [oldest] = kinds.keys()
      if (kinds.size > maxKinds && oldest !== undefined) kinds.delete(oldest)
      return { unwritten: Math.max(0, (present?.count ?? 0) - writtenPerWindow) }
    },
  }
}
