/**
 * Maximum distance of moved entries. Larger differences indicate a wrong clock or a long outage of the service, so the
 * order of the log is preserved.
 */
const windowMs = 3_600_000
const maxMoves = 200

type Entry = {
  at: string
  /** Entries with a problem are not moved. */
  problem: string | null
}

/**
 * Sorts log entries by time. Entries of the service are appended when they are copied, after later entries of the local
 * agent. An entry moves past at most 200 others, within one hour.
 * @param entries in the order of their sequence
 */
export function* sortByTime<E extends Entry>(entries: Iterable<E>, order: 'newest' | 'oldest'): Generator<E> {
  const direction = order === 'newest' ? 1 : -1
  const pending: E[] = []
  for (const entry of entries) {
    let index = pending.length
    while (index > 0 && isBefore(entry, pending[index - 1], direction)) index -= 1
    pending.splice(index, 0, entry)
    if (pending.length > maxMoves) yield* pending.splice(0, 1)
  }
  yield* pending
}

function isBefore(entry: Entry, neighbour: Entry | undefined, direction: 1 | -1): boolean {
  if (neighbour === undefined || entry.problem !== null || neighbour.problem !== null) return false
  const aheadMs = (Date.parse(entry.at) - Date.parse(neighbour.at)) * direction
  return aheadMs > 0 && aheadMs <= windowMs
}
