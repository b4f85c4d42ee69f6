import { decidedOf, type Inbox, waitingOf } from './inboxList.ts'

/** Order of the rows. */
export type Arrangement = { waiting: readonly string[]; decided: readonly string[] }

export function arrangementOf(inbox: Inbox): Arrangement {
  return { waiting: waitingOf(inbox).map(({ id }) => id), decided: decidedOf(inbox).map(({ id }) => id) }
}

/** Counts the rows that a new arrangement would add. */
export function arrivals(shown: Arrangement, present: Arrangement): number {
  const known = new Set([...shown.waiting, ...shown.decided])
  return [...present.waiting, ...present.decided].filter((id) => !known.has(id)).length
}
