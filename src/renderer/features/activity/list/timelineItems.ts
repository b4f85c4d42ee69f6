import { getRequestId, type TimelineEntry } from '#shared/contract/timeline.ts'

/** Item of the list: a day, a single entry, a request with its outcome, or a call with its effects. */
export type TimelineItem = { kind: 'day'; key: string; label: string } | { kind: 'row'; key: string; row: TimelineRow }

/**
 * Row of the list, newest entry first. Only requests (with payment and effects) and calls or plans (with effects) have
 * several entries.
 */
export type TimelineRow = {
  key: string
  entries: readonly [TimelineEntry, ...TimelineEntry[]]
  isRequest: boolean
  /** Entry that represents the row. Defaults to the newest entry. */
  lead?: TimelineEntry | undefined
  /** Latest kind of the request. Needed because a filter may have removed its entry from `entries`. */
  state?: string | undefined
}

/** Latest entry kinds by request id. */
export type RequestStates = Readonly<Record<string, string>>

const dayMs = 86_400_000

/** Groups entries into rows and inserts a heading wherever the day changes. */
export function buildTimelineItems(
  entries: readonly TimelineEntry[],
  now: Date,
  states: RequestStates = {},
): TimelineItem[] {
  let present = ''
  return groupRows(entries, states).flatMap((row) => {
    const item: TimelineItem = { kind: 'row', key: row.key, row }
    const [newest] = row.entries
    const label = formatDay(new Date(newest.at), now)
    if (label === present) return [item]
    present = label
    // A day may repeat, because entries that the service reported late are listed at the time they were recorded.
    return [{ kind: 'day', key: `day before ${row.key}`, label }, item]
  })
}

/** Calls and plans. Their tasks contain the effects recorded by the service. */
const callKinds: ReadonlySet<string> = new Set(['tool.called', 'tool.failed', 'dns.applied', 'dns.failed'])

/**
 * Groups requests, and calls with their effects, at the position of their newest entry. Tampered entries remain
 * separate rows.
 */
export function groupRows(entries: readonly TimelineEntry[], states: RequestStates = {}): TimelineRow[] {
  const rows = new Map<string, TimelineRow>()
  const calls = findCalls(entries)
  const requests = findRequests(entries, calls)
  for (const entry of entries) {
    const request = findRequest(entry) ?? requests.get(getTask(entry) ?? '')
    const call = request === undefined ? calls.get(getTask(entry) ?? '') : undefined
    const key = request === undefined ? String((call ?? entry).sequence) : `request ${request}`
    const begun = rows.get(key)
    rows.set(key, {
      key,
      entries: begun ? [...begun.entries, entry] : [entry],
      isRequest: request !== undefined,
      ...(request !== undefined && { state: states[request] }),
    })
  }
  return [...rows.values()].map((row) =>
    row.entries.length > 1 ? { ...row, lead: findRepresentativeEntry(row) } : row,
  )
}

/**
 * Returns the only call of each task. Chat turns may make several calls with effects that cannot be distinguished, so
 * they are omitted.
 */
function findCalls(entries: readonly TimelineEntry[]): ReadonlyMap<string, TimelineEntry> {
  const calls = new Map<string, TimelineEntry>()
  const repeated = new Set<string>()
  for (const entry of entries) {
    const task = getTask(entry)
    if (task === undefined || !callKinds.has(entry.kind)) continue
    if (calls.has(task)) repeated.add(task)
    calls.set(task, entry)
  }
  for (const task of repeated) calls.delete(task)
  return calls
}

/** Returns the request id of an entry, or of the payment that the entry refers to. */
function findRequest(entry: TimelineEntry): string | undefined {
  if (entry.problem !== null) return undefined
  return getRequestId(entry) ?? (entry.kind.startsWith('payment.') ? entry.links.intent : undefined)
}

/**
 * Returns the only request of each task that has no call. In a purchase, the service reports the effects in the same
 * task.
 */
function findRequests(
  entries: readonly TimelineEntry[],
  calls: ReadonlyMap<string, TimelineEntry>,
): ReadonlyMap<string, string> {
  const groups = new Map<string, Set<string>>()
  for (const entry of entries) {
    const task = getTask(entry)
    const request = findRequest(entry)
    if (task === undefined || request === undefined || calls.has(task)) continue
    groups.set(task, (groups.get(task) ?? new Set()).add(request))
  }
  return new Map([...groups].flatMap(([task, ids]) => (ids.size === 1 ? [[task, [...ids][0] ?? '']] : [])))
}

function getTask({ task, problem }: TimelineEntry): string | undefined {
  return problem === null && task !== null && !task.startsWith('chat:') ? task : undefined
}

/** Returns the entry that represents a row. A single effect is more specific than the tool name. */
function findRepresentativeEntry({ entries, isRequest }: TimelineRow): TimelineEntry | undefined {
  if (isRequest) return entries.find((entry) => findRequest(entry) === undefined)
  const call = entries.find(({ kind }) => callKinds.has(kind))
  const effects = entries.filter((entry) => entry !== call)
  return call?.kind === 'tool.called' && effects.length === 1 ? effects[0] : call
}

export function formatDay(day: Date, now: Date): string {
  const days = Math.round((toMidnight(now) - toMidnight(day)) / dayMs)
  if (days === 0) return 'Today'
  if (days === 1) return 'Yesterday'
  return day.toLocaleDateString('en-GB', { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' })
}

function toMidnight(time: Date): number {
  return new Date(time.getFullYear(), time.getMonth(), time.getDate()).getTime()
}
