import type { Log } from '#platform/log.ts'
import { createTokenBuckets } from '#platform/tokenBuckets.ts'
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
import type { UnreadableEntry } from '#shared/contract/readAnswer.ts'
import type { TaskId } from '#shared/contract/timelineLinks.ts'
import { openRecord } from '#shared/openRecord.ts'
import type { NewActivityEntry } from '../base/recordActivity.ts'
import type { ServiceClient } from '../connections/serviceClient.ts'
import type { ServiceLink } from '../connections/serviceLink.ts'
import { parseEntry as entryOfRow } from './rowProblems.ts'
import type { Timeline } from './timeline.ts'
import { cleanText } from './withoutSecrets.ts'

type Options = {
  link: Pick<ServiceLink, 'subscribe' | 'status'>
  client: Pick<ServiceClient, 'call'>
  timeline: Pick<Timeline, 'follow' | 'records'>
  /** Whether the person's own wallet has this address. */
  isOwn?: (address: string) => boolean
  /** Entries that are copied at once, and how many more each second. Absent: as many as the service has. */
  pace?: { burst: number; perSecond: number } | undefined
  /** Monotonic milliseconds. */
  now: () => number
  log: Log
}

/** Pace of a service elsewhere: 50,000 entries in a day, each of at most a few kilobytes. */
export const hostedPace = { burst: 50_000, perSecond: 50_000 / 86_400 } as const

const pageSize = 500
/** Pages of one run; the rest is read after a pause. A hostile service has pages without end. */
const maxPages = 200
/** Debounces a burst of events into one read, in milliseconds. */
const soonMs = 200
const retry = { firstMs: 2_000, maxMs: 60_000 } as const

/**
 * Copies what the service notes for the agent's account into the log: in order, from where it stopped, each entry once,
 * whatever crashes in between. Entries beyond the pace stay at the service until they may
 * be copied; those that it removes until then are recorded as a gap.
 */
export function createServiceFollower(options: Options): { close(): Promise<void> } {
  const { link, now, log } = options
  const copyPages = createPageCopy(options)
  const closing = new AbortController()
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> | undefined
  /** `resting` may have a retry before it, which news brings forward. */
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
        log.warn('the service notes more than is copied in a day', { waitMs })
        pausedUntilMs = now() + waitMs
        schedule(waitMs)
      }
    } catch (error) {
      if (closing.signal.aborted) return
      log.warn('what the service noted could not be read', { error })
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
    if (now() < pausedUntilMs) return // the next run is scheduled
    state = 'soon'
    schedule(soonMs)
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

/**
 * Copies pages until none is left.
 * @returns milliseconds to wait before the next page may be copied; 0 if there is none
 */
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
        throw new Error('The service sent more entries than asked for.')
      if (page.account_id !== account) {
        account = page.account_id // starts, or signed in to another account: read from that account's position
        continue
      }
      const read = mergeBySequence(page.activities, unreadable, after)
      const last = read.at(-1)
      const waitSeconds = tokens?.take('entries', read.length) ?? 0
      if (waitSeconds > 0) return waitSeconds * 1000
      if (last) timeline.follow(account, { entries: toEntries(read, after), sequence: last.sequence })
      // A page that leads no further would be asked for again and again.
      if (!page.has_more || last === undefined) return 0
    }
    throw new Error(`The service has more than ${maxPages} pages of activity.`)
  }
}

/** An entry of the service at its position; without an activity where this version cannot read it. */
type FollowedActivity = { sequence: number; activity: AccountActivity | undefined }

/** Inserts unreadable entries at their positions, with increasing sequence numbers. */
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
  return Number.isSafeInteger(sequence) ? (sequence as number) : undefined // isSafeInteger() just proved it
}

function createUnreadableEntry(sequence: number, service: string): NewActivityEntry {
  return {
    kind: 'service.unreadable',
    actor: { kind: 'service', name: service },
    summary: `An entry of ${service} can’t be read: another version of Steward wrote it.`,
    detail: { service, service_sequence: sequence },
  }
}

/** Before a sentence cuts a command short: half a secret does not look like one. */
function sanitizeActivity(activity: AccountActivity): AccountActivity {
  const { command, description, by } = activity
  return {
    ...activity,
    command: command && cleanText(trimCutWord(command)),
    description: cleanText(description),
    by: { ...by, name: by.name && cleanText(by.name) },
  }
}

/** The service cuts a long command wherever it is: its last word may be half of one. */
function trimCutWord(command: string): string {
  return Buffer.byteLength(command) < activityLimits.commandBytes - 4 ? command : command.replace(/\S+$/, '…')
}

const activityTypes: ReadonlySet<string> = new Set([...ActivityType.options, ...AccountActivityType.options])

function toEntry(activity: AccountActivity, service: string): NewActivityEntry {
  const { id, sequence, type, by, sandbox_id: sandbox, sandbox_name: name, command, domain, terminal_id, at } = activity
  const { task, charged_micro_usd } = activity
  return {
    // A word that this version does not know must not pass for an entry of this computer, such as `intent.signed`.
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
    summary: `${entries} of ${service} ${count === 1 ? 'is' : 'are'} missing here: the service no longer has what came before.`,
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
 * Returns the originator of a task for a service that does not record it, from the task's entries so far. Returns
 * undefined for an action of the user. In a chat turn the originator is the chat: the user only sent the message.
 */
function findOriginator(records: Timeline['records'], task: TaskId): Originator | undefined {
  if (task.startsWith('action:')) return undefined
  const row = records.firstByRequester(task)
  const entry = row && entryOfRow(row)
  const originator = entry?.problem === null ? toOriginator(entry.actor, task) : undefined
  return originator ?? (isTurn(task) ? { kind: 'chat', name: 'A chat' } : { kind: 'program', name: 'A program' })
}
