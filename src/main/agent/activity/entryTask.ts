import type { Links } from '#shared/contract/timelineLinks.ts'
import { TaskId } from '#shared/contract/timelineLinks.ts'
import type { NewActivityEntry } from '../base/recordActivity.ts'
import type { CurrentTask } from '../base/taskContext.ts'
import { parseEntry } from './rowProblems.ts'
import type { TimelineRepository } from './timelineRepository.ts'

type TaskStart = { task: TaskId; links: Links; actor: NewActivityEntry['actor'] }

/** Entry to write, with the task that was current when the entry was recorded. */
export type WaitingEntry = { entry: NewActivityEntry; present: CurrentTask | undefined }

/**
 * Subjects that span several tasks and belong to the first one. For example, the user approves an intent that a program
 * created.
 */
const sharedSubjects = ['intent', 'payment'] as const
/** Subjects that start a task. All following entries join that task. */
const originSubjects = ['conversation', 'message', 'tool_call', 'payment', 'intent'] as const

/**
 * Adds the task and all links to an entry. Links of the entry take precedence over links of its origin; current links
 * apply only if the origin is unknown.
 */
export function addTask(
  { entry, present }: WaitingEntry,
  { findFirst }: Pick<TimelineRepository, 'findFirst'>,
): NewActivityEntry {
  const began = findTaskStart(entry.links ?? {}, findFirst)
  const task = entry.task ?? began?.task ?? present?.id
  const links = { ...(began ? began.links : present?.links), ...entry.links }
  return { ...entry, ...(task !== undefined && { task }), links }
}

/** Returns the task in which an intent or payment began, with its origin. */
export function findTaskStart(links: Links, firstOf: TimelineRepository['findFirst']): TaskStart | undefined {
  for (const kind of sharedSubjects) {
    const id = links[kind]
    const row = id === undefined ? undefined : firstOf({ kind, id })
    const first = row && parseEntry(row)
    if (!first || first.problem !== null || first.task === null) continue // ignores tampered entries
    const { data: task } = TaskId.safeParse(first.task)
    return task === undefined
      ? undefined
      : {
          task,
          links: Object.fromEntries(originSubjects.flatMap((it) => listLinksOfKind(first.links, it))) as Links,
          actor: first.actor,
        }
  }
  return undefined
}

function listLinksOfKind(links: Links, kind: keyof Links): [string, string][] {
  const id = links[kind]
  return id === undefined ? [] : [[kind, id]]
}
