import type { IntentRecord } from '#shared/contract/intents.ts'

/** Sorted newest first. */
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

/** Merges the agent's lists of pending and recently decided requests. */
export function mergeInboxes(waiting: Inbox, latest: Inbox): Inbox {
  const latestIds = new Set(latest.map(({ id }) => id))
  return [...latest, ...waiting.filter(({ id }) => !latestIds.has(id))].toSorted(compareNewestFirst)
}

function compareNewestFirst(a: IntentRecord, b: IntentRecord): number {
  return b.created_at.localeCompare(a.created_at)
}
