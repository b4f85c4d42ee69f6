import type { Links } from '#shared/contract/timelineLinks.ts'
import { toIsoTime } from '#shared/time.ts'
import type { NewActivityEntry } from '../base/recordActivity.ts'
import { hashEntry, toCanonicalJson } from './entryHash.ts'
import { maxDetailFields, maxStoredLength, redactSecrets } from './redactSecrets.ts'
import type { Head } from './timelineHead.ts'
import type { TimelineRow } from './timelineRepository.ts'

const limits = { summary: 2_000, name: 200, value: maxStoredLength, fields: maxDetailFields } as const

/**
 * Builds the row of the entry that follows `previous`: redacted, truncated, and hashed exactly as it will be read back.
 */
export function truncateEntry(
  noted: NewActivityEntry,
  { sequence, previousHash, nowMs }: { sequence: number; previousHash: Head['hash']; nowMs: number },
): TimelineRow {
  const entry = redactSecrets(noted)
  const atMs = Math.trunc(entry.atMs ?? nowMs - (entry.tookMs ?? 0))
  const detail = truncateDetail(entry.detail ?? {})
  const links = truncateLinks(entry.links ?? {})
  const row = {
    sequence,
    atMs,
    kind: truncateText(entry.kind, limits.name),
    actorKind: entry.actor.kind,
    actorName: truncateText(entry.actor.name, limits.name),
    subject: entry.subject === undefined || entry.subject === '' ? null : truncateText(entry.subject, limits.name),
    summary: truncateText(entry.summary, limits.summary),
    detail: toCanonicalJson(detail),
    task: entry.task ?? null,
    links: Object.keys(links).length === 0 ? null : toCanonicalJson(links),
    previousHash,
  }
  const hash = hashEntry({
    sequence,
    at: toIsoTime(atMs),
    kind: row.kind,
    actor: { kind: entry.actor.kind, name: row.actorName },
    subject: row.subject,
    summary: row.summary,
    detail,
    task: row.task,
    links,
    previous_hash: previousHash,
  })
  return { ...row, hash }
}

function truncateDetail(detail: NonNullable<NewActivityEntry['detail']>): NonNullable<NewActivityEntry['detail']> {
  // The parser drops a field with this name, so the hash would differ.
  const fields = Object.entries(detail)
    .filter(([name]) => name !== '__proto__')
    .slice(0, limits.fields)
  return Object.fromEntries(
    fields.map(([name, value]) => {
      const plain = typeof value === 'string' ? truncateText(value, limits.value) : value
      return [truncateText(name, limits.name), typeof plain === 'number' && !Number.isFinite(plain) ? null : plain]
    }),
  )
}

function truncateLinks(links: Links): Links {
  return Object.fromEntries(
    Object.entries(links)
      .filter(([, id]) => id !== undefined && id !== '')
      .map(([kind, id]) => [kind, truncateText(id, limits.name)]),
  )
}

/** Drops NUL characters and lone surrogates, which SQLite does not round-trip. */
function truncateText(text: string, length: number): string {
  const cut = text.length > length ? `${text.slice(0, length - 1)}…` : text
  return cut.toWellFormed().replaceAll('\0', '\u{fffd}')
}
