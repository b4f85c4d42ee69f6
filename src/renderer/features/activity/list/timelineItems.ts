import { getRequestId, type TimelineEntry } from '#shared/contract/timeline.ts'

/** Item of the list: a day, a single entry, a request with its outcome, or a call with its effects. */
export type TimelineItem = { kind: 'day'; key: string; label: string } | { kind: 'row'; key: string; row: TimelineRow }

/** Newest entry first. Only a request with its payment and effects, and a call or plan with its effects, have several. */
export type TimelineRow = {
  key: string
  entries: readonly [TimelineEntry, ...TimelineEntry[]]
  isRequest: boolean
  /** Entry whose sentence stands for all of them; absent: the newest. */
  lead?: TimelineEntry | undefined
  /** Latest kind of the request, which a filter may have removed from `entries`. */
  state?: string | undefined
}

/** Latest kinds by the id of the request. */
export type RequestStates = Readonly<Record<string, string>>

const dayMs = 86_400_000

/** The rows as they come, with a line wherever another day begins. */
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
    // A day may repeat: entries that the service reported late are listed where they were recorded.
    return [{ kind: 'day', key: `day before ${row.key}`, label }, item]
  })
}

/** Calls and plans, whose task holds what the service did for them. */
const callKinds: ReadonlySet<string> = new Set(['tool.called', 'tool.failed', 'dns.applied', 'dns.failed'])

/** Requests, and calls with their effects, are placed at their newest entry. Tampered entries stay separate rows. */
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
  return [...rows.values()].map((row) => (row.entries.length > 1 ? { ...row, lead: findLead(row) } : row))
}

/** Returns the only call of each task. Turns of chats make several calls, whose effects cannot be distinguished. */
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

/** The request of an entry, or of the payment that the entry is about. */
function findRequest(entry: TimelineEntry): string | undefined {
  if (entry.problem !== null) return undefined
  return getRequestId(entry) ?? (entry.kind.startsWith('payment.') ? entry.links.intent : undefined)
}

/** The only request of each task without a call: a purchase, whose effects the service reports in the same task. */
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

/** A single effect says more than the name of the tool. */
function findLead({ entries, isRequest }: TimelineRow): TimelineEntry | undefined {
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
