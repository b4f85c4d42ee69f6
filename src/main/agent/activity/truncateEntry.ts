import type { Links } from '#shared/contract/timelineLinks.ts'
import { toIsoTime } from '#shared/time.ts'
import type { NewActivityEntry } from '../base/recordActivity.ts'
import { entryHash, toCanonicalJson } from './entryHash.ts'
import type { Head } from './timelineHead.ts'
import type { TimelineRow } from './timelineRepository.ts'
import { maxDetailFields, maxStoredLength, withoutSecrets } from './withoutSecrets.ts'

const limits = { summary: 2_000, name: 200, value: maxStoredLength, fields: maxDetailFields } as const

/** The row of an entry that follows `previous`: cleaned, cut to size, and hashed exactly as it will be read again. */
export function truncateEntry(
  noted: NewActivityEntry,
  { sequence, previousHash, nowMs }: { sequence: number; previousHash: Head['hash']; nowMs: number },
): TimelineRow {
  const entry = withoutSecrets(noted)
  const atMs = Math.trunc(entry.atMs ?? nowMs - (entry.tookMs ?? 0))
  const detail = plainDetail(entry.detail ?? {})
  const links = plainLinks(entry.links ?? {})
  const row = {
    sequence,
    atMs,
    kind: plainText(entry.kind, limits.name),
    actorKind: entry.actor.kind,
    actorName: plainText(entry.actor.name, limits.name),
    subject: entry.subject === undefined || entry.subject === '' ? null : plainText(entry.subject, limits.name),
    summary: plainText(entry.summary, limits.summary),
    detail: toCanonicalJson(detail),
    task: entry.task ?? null,
    links: Object.keys(links).length === 0 ? null : toCanonicalJson(links),
    previousHash,
  }
  const hash = entryHash({
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

function plainDetail(detail: NonNullable<NewActivityEntry['detail']>): NonNullable<NewActivityEntry['detail']> {
  // The parser drops a field of this name, so its hash would differ.
  const fields = Object.entries(detail)
    .filter(([name]) => name !== '__proto__')
    .slice(0, limits.fields)
  return Object.fromEntries(
    fields.map(([name, value]) => {
      const plain = typeof value === 'string' ? plainText(value, limits.value) : value
      return [plainText(name, limits.name), typeof plain === 'number' && !Number.isFinite(plain) ? null : plain]
    }),
  )
}

function plainLinks(links: Links): Links {
  return Object.fromEntries(
    Object.entries(links)
      .filter(([, id]) => id !== undefined && id !== '')
      .map(([kind, id]) => [kind, plainText(id, limits.name)]),
  )
}

/** Drops NUL characters and lone surrogates, which SQLite does not round-trip. */
function plainText(text: string, length: number): string {
  const cut = text.length > length ? `${text.slice(0, length - 1)}…` : text
  return cut.toWellFormed().replaceAll('\0', '\u{fffd}')
}
