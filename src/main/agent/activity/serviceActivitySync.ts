import { createTokenBuckets } from '#platform/concurrency/tokenBuckets.ts'
import type { Log } from '#platform/logging/log.ts'
import {
  type AccountActivity,
  AccountActivityType,
  type ActivityBy,
  ActivityType,
  activityLimits,
  listAccountActivity,
} from '#shared/contract/activity.ts'
import { describeActivity, formatActor } from '#shared/contract/activityTexts.ts'
import { isTurn, type Originator, toOriginator } from '#shared/contract/originator.ts'
import type { UnreadableEntry } from '#shared/contract/parseResponse.ts'
import type { TaskId } from '#shared/contract/timelineLinks.ts'
import { openRecord } from '#shared/openRecord.ts'
import type { NewActivityEntry } from '../base/recordActivity.ts'
import type { ServiceClient } from '../connections/serviceClient.ts'
import type { ServiceLink } from '../connections/serviceLink.ts'
import { redactText } from './redactSecrets.ts'
import { parseEntry as entryOfRow } from './rowProblems.ts'
import type { Timeline } from './timeline.ts'

type Options = {
  link: Pick<ServiceLink, 'subscribe' | 'status'>
  client: Pick<ServiceClient, 'call'>
  timeline: Pick<Timeline, 'follow' | 'records'>
  /** Whether the address belongs to the user's wallet. */
  isOwn?: (address: string) => boolean
  /** Burst size and refill rate for copied entries. Defaults to unlimited. */
  pace?: { burst: number; perSecond: number } | undefined
  /** Monotonic milliseconds. */
  now: () => number
  log: Log
}

/** Pace for a remote service: 50,000 entries a day, each of a few kilobytes at most. */
export const hostedRateLimit = { burst: 50_000, perSecond: 50_000 / 86_400 } as const

const pageSize = 500
/** Maximum pages per run; the rest is read after a pause, because a hostile service may return endless pages. */
const maxPages = 200
/** Debounces a burst of events into one read, in milliseconds. */
const debounceMs = 200
const retry = { firstMs: 2_000, maxMs: 60_000 } as const

/**
 * Copies the service's entries for the local agent's account into the activity log. Entries are copied in order from
 * the last position, exactly once, even across crashes. Entries beyond the pace remain at the service until they may be
 * copied. Entries that the service removes before then are recorded as a gap.
 */
export function createServiceActivitySync(options: Options): { close(): Promise<void> } {
  const { link, now, log } = options
  const copyPages = createPageCopy(options)
  const closing = new AbortController()
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> | undefined
  /** In the `resting` state a retry may be scheduled; an event brings it forward. */
  let state: 'resting' | 'soon' | 'reading' = 'resting'
  let again = false
  let retryMs: number = retry.firstMs
  let pausedUntilMs = 0

  const run = async (): Promise<void> => {
    state = 'reading'
    again = false
    try {
      const waitMs = await copyPages(closing.signal)
      retryMs = retry.firstMs
      if (waitMs > 0) {
        log.warn('service activity exceeds the daily copy limit', { waitMs })
        pausedUntilMs = now() + waitMs
        schedule(waitMs)
      }
    } catch (error) {
      if (closing.signal.aborted) return
      log.warn('failed to read service activity', { error })
      schedule(retryMs)
      retryMs = Math.min(retryMs * 2, retry.maxMs)
    }
    state = 'resting'
    if (again) soon()
  }
  const schedule = (ms: number): void => {
    clearTimeout(timer)
    if (closing.signal.aborted) return
    timer = setTimeout(() => {
      running = run()
    }, ms)
  }
  const soon = (): void => {
    if (now() < pausedUntilMs) return // the next run is already scheduled
    state = 'soon'
    schedule(debounceMs)
  }

  const unsubscribe = link.subscribe(({ type }) => {
    if (type !== 'ready' && type !== 'activity.noted') return
    if (state === 'reading') again = true
    else if (state === 'resting') soon()
  })
  return {
    async close() {
      unsubscribe()
      closing.abort()
      clearTimeout(timer)
      await running
    },
  }
}

/** Copies all remaining pages. @returns milliseconds to wait before copying the next page, or 0 if no pages remain */
type PageCopy = (signal: AbortSignal) => Promise<number>

function createPageCopy({ link, client, timeline, isOwn = () => false, pace, now }: Options): PageCopy {
  const tokens = pace && createTokenBuckets({ ...pace, now })
  let account: string | undefined

  const toEntries = (followed: readonly FollowedActivity[], after: number): NewActivityEntry[] => {
    const service = link.status().name
    const missing = (followed[0]?.sequence ?? 0) - after - 1
    const entries = followed.map(({ sequence, activity }) =>
      activity === undefined
        ? createUnreadableEntry(sequence, service)
        : toEntry(sanitizeActivity(withNames(activity)), service),
    )
    return missing > 0 ? [createGapEntry(missing, service), ...entries] : entries
  }

  const withNames = (activity: AccountActivity): AccountActivity => {
    const { by, task } = activity
    const isOwner = by.kind === 'owner' || (by.kind === 'wallet' && by.name !== null && isOwn(by.name))
    if (!isOwner) return activity
    const originator = task === null ? undefined : findOriginator(timeline.records, task)
    return { ...activity, by: originator ? { ...originator, via: 'owner' } : { kind: 'owner', name: by.name } }
  }

  return async (signal) => {
    for (let pages = 0; pages < maxPages; pages += 1) {
      const after = account === undefined ? 0 : (timeline.records.findSyncedSequence(account) ?? 0)
      const limit = account === undefined ? 1 : pageSize
      const unreadable: UnreadableEntry[] = []
      const page = await client.call(
        listAccountActivity,
        { after, limit },
        { signal, onUnreadable: (entries) => unreadable.push(...entries) },
      )
      if (signal.aborted) return 0
      if (page.activities.length + unreadable.length > limit)
        throw new Error('The service sent more entries than requested.')
      if (page.account_id !== account) {
        account = page.account_id // first page or another account: continue from the position of that account
        continue
      }
      const read = mergeBySequence(page.activities, unreadable, after)
      const last = read.at(-1)
      const waitSeconds = tokens?.take('entries', read.length) ?? 0
      if (waitSeconds > 0) return waitSeconds * 1000
      if (last) timeline.follow(account, { entries: toEntries(read, after), sequence: last.sequence })
      // A page that does not advance the position would be requested endlessly.
      if (!page.has_more || last === undefined) return 0
    }
    throw new Error(`The service has more than ${maxPages} pages of activity.`)
  }
}

/** Service entry at its position. `activity` is undefined if this version cannot parse the entry. */
type FollowedActivity = { sequence: number; activity: AccountActivity | undefined }

/** Inserts unreadable entries at their positions, in ascending order of sequence. */
function mergeBySequence(
  activities: readonly AccountActivity[],
  unreadable: readonly UnreadableEntry[],
  after: number,
): FollowedActivity[] {
  const positions = new Map(unreadable.map(({ path, value }) => [Number(/\[(\d+)\]/.exec(path)?.[1]), value]))
  const readable = [...activities]
  const followed: FollowedActivity[] = []
  for (let index = 0; index < activities.length + unreadable.length; index++) {
    const previous = followed.at(-1)?.sequence ?? after
    const activity = positions.has(index) ? undefined : readable.shift()
    const sequence = activity?.sequence ?? readSequence(positions.get(index)) ?? previous + 1
    followed.push({ sequence: Math.max(sequence, previous + 1), activity })
  }
  return followed
}

function readSequence(value: unknown): number | undefined {
  const { sequence } = typeof value === 'object' && value !== null ? (value as { sequence?: unknown }) : {}
  return Number.isSafeInteger(sequence) ? (sequence as number) : undefined // checked by isSafeInteger()
}

function createUnreadableEntry(sequence: number, service: string): NewActivityEntry {
  return {
    kind: 'service.unreadable',
    actor: { kind: 'service', name: service },
    summary: `An entry of ${service} can’t be read: another version of Steward wrote it.`,
    detail: { service, service_sequence: sequence },
  }
}

/** Redacts before the summary truncates the command, because a partial secret is not recognizable. */
function sanitizeActivity(activity: AccountActivity): AccountActivity {
  const { command, description, by } = activity
  return {
    ...activity,
    command: command && redactText(trimTruncatedWord(command)),
    description: redactText(description),
    by: { ...by, name: by.name && redactText(by.name) },
  }
}

/** Drops the last word of a truncated command, because the service truncates at any position. */
function trimTruncatedWord(command: string): string {
  return Buffer.byteLength(command) < activityLimits.commandBytes - 4 ? command : command.replace(/\S+$/, '…')
}

const activityTypes: ReadonlySet<string> = new Set([...ActivityType.options, ...AccountActivityType.options])

function toEntry(activity: AccountActivity, service: string): NewActivityEntry {
  const { id, sequence, type, by, sandbox_id: sandbox, sandbox_name: name, command, domain, terminal_id, at } = activity
  const { task, charged_micro_usd } = activity
  return {
    // Prefixes unknown types, so that they cannot impersonate a local entry such as `intent.signed`.
    kind: activityTypes.has(type) ? type : `service.${type}`,
    actor: toActor(by, service),
    ...(sandbox !== null && { subject: sandbox }),
    summary: describeActivity(activity, service),
    detail: {
      service,
      service_id: id,
      service_sequence: sequence,
      ...(name !== null && { sandbox_name: name }),
      ...(command !== null && { command }),
      ...(charged_micro_usd !== null &&
        (type === 'models.used' ? { cost_micro_usd: charged_micro_usd } : { charged_micro_usd })),
      ...((by.kind === 'wallet' || by.kind === 'owner') && by.name !== null && { wallet: by.name }),
    },
    ...(task !== null && { task }),
    links: {
      ...(sandbox !== null && { sandbox }),
      ...(terminal_id !== null && { terminal: terminal_id }),
      ...(domain !== null && { domain }),
    },
    atMs: Date.parse(at),
  }
}

function createGapEntry(count: number, service: string): NewActivityEntry {
  const entries = count === 1 ? 'One earlier entry' : `${count} earlier entries`
  return {
    kind: 'service.gap',
    actor: { kind: 'service', name: service },
    summary: `${entries} of ${service} ${count === 1 ? 'is' : 'are'} missing here: the service has already deleted them.`,
    detail: { service, missing: count },
  }
}

const actorKinds: Record<Exclude<ActivityBy['kind'], 'service'>, NewActivityEntry['actor']['kind']> = openRecord(
  {
    ...{ owner: 'person', key: 'client', wallet: 'client', link: 'client' },
    ...{ agent: 'tool', chat: 'tool', program: 'client', steward: 'agent' },
  },
  () => 'client',
)

function toActor(by: ActivityBy, service: string): NewActivityEntry['actor'] {
  if (by.kind === 'service') return { kind: 'service', name: service }
  return { kind: actorKinds[by.kind], name: formatActor(by) }
}

/**
 * Finds the requester of a task from the task's entries so far, for a service that does not record it. In a chat turn
 * the requester is the chat, because the user only sent the message.
 * @returns undefined for an action of the user
 */
function findOriginator(records: Timeline['records'], task: TaskId): Originator | undefined {
  if (task.startsWith('action:')) return undefined
  const row = records.firstByRequester(task)
  const entry = row && entryOfRow(row)
  const originator = entry?.problem === null ? toOriginator(entry.actor, task) : undefined
  return originator ?? (isTurn(task) ? { kind: 'chat', name: 'A chat' } : { kind: 'program', name: 'A program' })
}
