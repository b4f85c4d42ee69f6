import { decidedOf, type Inbox, waitingOf } from './inboxList.ts'

/** Which row stands where. */
export type Arrangement = { waiting: readonly string[]; decided: readonly string[] }

export function arrangementOf(inbox: Inbox): Arrangement {
  return { waiting: waitingOf(inbox).map(({ id }) => id), decided: decidedOf(inbox).map(({ id }) => id) }
}

/** How many rows would come if it were arranged anew. */
export function arrivals(shown: Arrangement, present: Arrangement): number {
  const known = new Set([...shown.waiting, ...shown.decided])
  return [...present.waiting, ...present.decided].filter((id) => !known.has(id)).length
}
