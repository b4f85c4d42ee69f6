export type RepeatedEntries = {
  /** Undefined when an entry like this is not to be written; else how many were not since the last one that was. */
  told(entry: string): { unwritten: number } | undefined
}

const windowMs = 60_000
const writtenPerWindow = 20
/** Of different entries that are remembered; the one longest ago is forgotten first. */
const mostKinds = 500

export function repeatedEntries(now: () => number): RepeatedEntries {
  const kinds = new Map<string, { sinceMs: number; count: number }>()
  return {
    told(entry) {
      const known = kinds.get(entry)
      if (known && now() - known.sinceMs < windowMs) {
        known.count += 1
        return known.count <= writtenPerWindow ? { unwritten: 0 } : undefined
      }
      kinds.delete(entry)
      kinds.set(entry, { sinceMs: now(), count: 1 })
      const [oldest] = kinds.keys()
      if (kinds.size > mostKinds && oldest !== undefined) kinds.delete(oldest)
      return { unwritten: Math.max(0, (known?.count ?? 0) - writtenPerWindow) }
    },
  }
}
