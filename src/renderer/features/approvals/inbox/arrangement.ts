import { type Inbox, listDecided, waitingOf } from './inboxList.ts'

/** Order of the rows. */
export type Arrangement = { waiting: readonly string[]; decided: readonly string[] }

export function arrangementOf(inbox: Inbox): Arrangement {
  return { waiting: waitingOf(inbox).map(({ id }) => id), decided: listDecided(inbox).map(({ id }) => id) }
}

/** Counts the rows that a new arrangement would add. */
export function arrivals(before: Arrangement, present: Arrangement): number {
  const ids = new Set([...before.waiting, ...before.decided])
  return [...present.waiting, ...present.decided].filter((id) => !ids.has(id)).length
}
