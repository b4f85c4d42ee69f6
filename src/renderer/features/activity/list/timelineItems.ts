import type { TimelineEntry } from '../../../../shared/contract/timeline.ts'

/** A line of the list: a day, or an entry of it. */
export type TimelineItem =
  | { kind: 'day'; key: string; label: string }
  | { kind: 'entry'; key: string; entry: TimelineEntry }

const dayMs = 86_400_000

/** The entries as they come, with a line wherever another day begins. */
export function timelineItems(entries: readonly TimelineEntry[], now: Date): TimelineItem[] {
  let present = ''
  return entries.flatMap((entry) => {
    const item: TimelineItem = { kind: 'entry', key: String(entry.sequence), entry }
    const label = dayLabel(new Date(entry.at), now)
    if (label === present) return [item]
    present = label
    // A day may come again: what a service told late stands where it was written down.
    return [{ kind: 'day', key: `day before ${entry.sequence}`, label }, item]
  })
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
