import type { IntentRecord } from '#shared/contract/intents.ts'

/** Newest first. */
export type Inbox = readonly IntentRecord[]

export function withIntent(inbox: Inbox, record: IntentRecord): Inbox {
  return [record, ...inbox.filter(({ id }) => id !== record.id)].toSorted(compareNewestFirst)
}

export function listWaiting(inbox: Inbox): IntentRecord[] {
  return inbox.filter(({ state }) => state === 'waiting')
}

export function listDecided(inbox: Inbox): IntentRecord[] {
  return inbox.filter(({ state }) => state !== 'waiting')
}

/** Both lists of the agent as one: all that waits, and what was decided lately. */
export function mergeInboxes(waiting: Inbox, latest: Inbox): Inbox {
  const latestIds = new Set(latest.map(({ id }) => id))
  return [...latest, ...waiting.filter(({ id }) => !latestIds.has(id))].toSorted(compareNewestFirst)
}

function compareNewestFirst(a: IntentRecord, b: IntentRecord): number {
  return b.created_at.localeCompare(a.created_at)
}
