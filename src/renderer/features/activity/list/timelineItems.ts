import { requestIdOf, type TimelineEntry } from '../../../../shared/contract/timeline.ts'

/** A line of the list: a day, or what happened: one entry, or a request with all that became of it. */
export type TimelineItem = { kind: 'day'; key: string; label: string } | { kind: 'row'; key: string; row: TimelineRow }

/** Newest entry first. Only a request has more than one. */
export type TimelineRow = {
  key: string
  entries: readonly [TimelineEntry, ...TimelineEntry[]]
  isRequest: boolean
  /** Latest kind of the request, which a filter may have removed from `entries`. */
  state?: string | undefined
}

/** Latest kinds by the id of the request. */
export type RequestStates = Readonly<Record<string, string>>

const dayMs = 86_400_000

/** The rows as they come, with a line wherever another day begins. */
export function timelineItems(
  entries: readonly TimelineEntry[],
  now: Date,
  states: RequestStates = {},
): TimelineItem[] {
  let present = ''
  return rowsOf(entries, states).flatMap((row) => {
    const item: TimelineItem = { kind: 'row', key: row.key, row }
    const [newest] = row.entries
    const label = dayLabel(new Date(newest.at), now)
    if (label === present) return [item]
    present = label
    // A day may come again: what a service told late stands where it was written down.
    return [{ kind: 'day', key: `day before ${row.key}`, label }, item]
  })
}

/** A request stands where its newest entry is. An entry that somebody changed stands alone. */
export function rowsOf(entries: readonly TimelineEntry[], states: RequestStates = {}): TimelineRow[] {
  const rows = new Map<string, TimelineRow>()
  for (const entry of entries) {
    const request = entry.problem === null ? requestIdOf(entry) : undefined
    const key = request === undefined ? String(entry.sequence) : `request ${request}`
    const begun = rows.get(key)
    rows.set(key, {
      key,
      entries: begun ? [...begun.entries, entry] : [entry],
      isRequest: request !== undefined,
      ...(request !== undefined && { state: states[request] }),
    })
  }
  return [...rows.values()]
}

export function dayLabel(day: Date, now: Date): string {
  const days = Math.round((midnight(now) - midnight(day)) / dayMs)
  if (days === 0) return 'Today'
  if (days === 1) return 'Yesterday'
  return day.toLocaleDateString('en-GB', { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' })
}

function midnight(time: Date): number {
  return new Date(time.getFullYear(), time.getMonth(), time.getDate()).getTime()
}
