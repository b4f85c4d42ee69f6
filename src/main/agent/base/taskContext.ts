import { AsyncLocalStorage } from 'node:async_hooks'
import { randomUUID } from 'node:crypto'
import { formatOriginator, isTurn, type Originator, originatorHeader } from '#shared/contract/originator.ts'
import { type Links, type TaskId, taskHeader } from '#shared/contract/timelineLinks.ts'

/** Current task, for log entries and for requests to the service. */
export type CurrentTask = {
  id: TaskId
  links: Links
  /** Originator other than the user, if any. */
  originator?: Originator | undefined
}

/** Tracks the current task across asynchronous calls. */
export type TaskContext = {
  /**
   * Runs work as a task. Within a chat turn or a tool call, joins that task and adds links. A turn is always a separate
   * task.
   */
  run<T>(task: CurrentTask, work: () => T): T
  /** Resumes an earlier task, regardless of the current one. */
  resume<T>(task: CurrentTask, work: () => T): T
  current(): CurrentTask | undefined
}

/** Creates the id of a task that no other resource identifies. */
export function createTaskId(kind: 'action' | 'call'): TaskId {
  return `${kind}:${randomUUID().replaceAll('-', '')}`
}

export function createTaskContext(): TaskContext {
  const present = new AsyncLocalStorage<CurrentTask | undefined>()
  return {
    run(task, work) {
      const outer = present.getStore()
      const links = { ...outer?.links, ...task.links }
      const id = outer && !isTurn(task.id) ? outer.id : task.id
      const originator = task.originator ?? (isTurn(task.id) ? undefined : outer?.originator)
      return present.run({ id, links, originator }, work)
    },
    resume: (task, work) => present.run(task, work),
    current: () => present.getStore(),
  }
}

/** Returns headers with the task and the requester of a request to the service. */
export function createTaskHeaders(task: Omit<CurrentTask, 'links'> | undefined): Record<string, string> {
  return {
    ...(task && { [taskHeader]: task.id }),
    ...(task?.originator && { [originatorHeader]: formatOriginator(task.originator) }),
  }
}
