import { type Inbox, listDecided, listWaiting } from './inboxList.ts'

/** Order of the rows. */
export type Arrangement = { waiting: readonly string[]; decided: readonly string[] }

export function arrangeInbox(inbox: Inbox): Arrangement {
  return { waiting: listWaiting(inbox).map(({ id }) => id), decided: listDecided(inbox).map(({ id }) => id) }
}

export function countArrivals(before: Arrangement, present: Arrangement): number {
  const ids = new Set([...before.waiting, ...before.decided])
  return [...present.waiting, ...present.decided].filter((id) => !ids.has(id)).length
}
