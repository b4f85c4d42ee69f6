import { AppError } from '#shared/appError.ts'
import { isTurn } from '#shared/contract/originator.ts'
import type { Output } from '#shared/contract/route.ts'
import type { TimelineEntry } from '#shared/contract/timeline.ts'
import { type Links, TaskId } from '#shared/contract/timelineLinks.ts'
import type { listTasks, TimelineTask } from '#shared/contract/timelineTasks.ts'
import { parseEntry } from './rowProblems.ts'
import type { TimelineRepository } from './timelineRepository.ts'

/** Cost fields in the details of entries. @see NotedEntry */
const costs = ['cost_micro_usd', 'paid_micro_usdc', 'paid_test_micro_usdc', 'charged_micro_usd'] as const
/** Maximum entries per task; older entries are ignored. */
const maxEntries = 20_000

/**
 * Summarizes a task with its total cost. Tampered entries count as zero.
 * @throws AppError `activity/task-not-found`
 */
export function sumTask(records: Pick<TimelineRepository, 'ofTask'>, task: TaskId): TimelineTask {
  const entries = records.ofTask(task, maxEntries).map(parseEntry)
  const [first] = entries
  const last = entries.at(-1)
  if (!first || !last) {
    throw new AppError('activity/task-not-found', `The log has no entries for task ${task}.`)
  }
  const totals = { cost_micro_usd: 0, paid_micro_usdc: 0, paid_test_micro_usdc: 0, charged_micro_usd: 0 }
  let links: Links = {}
  for (const entry of entries) {
    if (entry.problem !== null) continue
    links = { ...entry.links, ...links }
    for (const name of costs) totals[name] += readAmount(entry, name)
  }
  const estimated = entries.some(({ detail }) => detail.estimated === true)
  return {
    task,
    title: first.summary,
    outcome: last.summary,
    actor: first.actor,
    entries: entries.length,
    first_at: first.at,
    last_at: last.at,
    last_sequence: last.sequence,
    ...totals,
    estimated,
    links,
  }
}

/**
 * Returns titles of conversations and texts of user messages, by id. They quote the user, so the log does not store
 * them.
 */
export type ChatTitles = (ids: readonly string[]) => ReadonlyMap<string, string>

/** Lists tasks of chats and programs. Actions in the window are tasks too, but mostly consist of a single entry. */
export function listRecentTasks(
  records: Pick<TimelineRepository, 'ofTask' | 'newestTasks'>,
  { before, limit }: { before?: number | undefined; limit: number },
  chatTitles: ChatTitles,
): Output<typeof listTasks> {
  const page = records.newestTasks(before ?? Number.MAX_SAFE_INTEGER, limit + 1)
  const taskIds = page.flatMap((task) => TaskId.safeParse(task).data ?? []) // skips tampered entries
  const tasks = taskIds.slice(0, limit).map((task) => sumTask(records, task))
  const collectIds = ({ task, links }: TimelineTask) => [
    ...(isTurn(task) ? [describeTask(task)] : []),
    links.conversation ?? '',
  ]
  const titles = chatTitles(tasks.flatMap(collectIds))
  const titled = tasks.map((task) => {
    const title = collectIds(task).flatMap((id) => titles.get(id) ?? [])[0]
    return { ...task, title: title ?? task.title }
  })
  return { tasks: titled, has_more: page.length > limit }
}

/** Returns the id of the user message of a chat turn. */
function describeTask(task: TaskId): string {
  return task.slice('chat:'.length)
}

/** Payment amounts elsewhere are strings, so that clients do not round them. */
function readAmount({ detail }: TimelineEntry, name: (typeof costs)[number]): number {
  const value = detail[name]
  const amount = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value
  return typeof amount === 'number' && Number.isSafeInteger(amount) && amount > 0 ? amount : 0
}
