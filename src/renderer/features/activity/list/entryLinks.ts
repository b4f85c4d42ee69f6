import { buildAddress } from '#renderer/ui/route.ts'
import type { TimelineEntry } from '#shared/contract/timeline.ts'
import type { LinkKind, Links } from '#shared/contract/timelineLinks.ts'

export type EntryLink = { label: string; href: string }

/** Returns the links of an entry that the window can open. Tampered entries have no links. */
export function listEntryLinks(entry: Pick<TimelineEntry, 'links' | 'detail' | 'problem'>): EntryLink[] {
  return entry.problem === null ? toEntryLinks(collectLinks(entry)) : []
}

export function toEntryLinks(links: Links): EntryLink[] {
  const { conversation, message, intent, payment, sandbox, domain, registration, recording } = links
  const places: [string, readonly string[] | undefined][] = [
    ['Open message', conversation && message ? ['chat', conversation, message] : undefined],
    ['Open chat', conversation && !message ? ['chat', conversation] : undefined],
    ['Open approval', intent ? ['approvals', intent] : undefined],
    ['Open payment', payment ? ['payments', payment] : undefined],
    ['Replay terminal', recording ? ['activity', 'recordings', recording] : undefined],
    ['Open sandbox', sandbox ? ['terminals', sandbox] : undefined],
    ['Open domain', domain ? ['domains', 'name', domain] : undefined],
    ['Open identity', registration ? ['identity', registration] : undefined],
  ]
  return places.flatMap(([label, place]) => (place ? [{ label, href: buildAddress(...place) }] : []))
}

/** Entries of earlier versions contain these links only in their details. */
const legacyDetailFields: Readonly<Partial<Record<LinkKind, string>>> = {
  conversation: 'conversation_id',
  message: 'message_id',
  intent: 'intent_id',
}

function collectLinks({ links, detail }: Pick<TimelineEntry, 'links' | 'detail'>): Links {
  const older = Object.entries(legacyDetailFields).flatMap(([kind, field]) => {
    const id = detail[field]
    return typeof id === 'string' ? [[kind, id] as const] : []
  })
  return { ...Object.fromEntries(older), ...links }
}
