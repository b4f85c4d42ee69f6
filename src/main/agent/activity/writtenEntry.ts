import type { Links } from '#shared/contract/timelineLinks.ts'
import { isoTime } from '#shared/time.ts'
import type { NotedEntry } from '../base/note.ts'
import { canonicalJson, entryHash } from './entryHash.ts'
import type { Head } from './timelineHead.ts'
import type { TimelineRow } from './timelineRepository.ts'
import { maxDetailFields, maxStoredLength, withoutSecrets } from './withoutSecrets.ts'

const most = { summary: 2_000, name: 200, value: maxStoredLength, fields: maxDetailFields } as const

/** The row of an entry that follows `previous`: cleaned, cut to size, and hashed exactly as it will be read again. */
export function writtenEntry(
  noted: NotedEntry,
  { sequence, previousHash, nowMs }: { sequence: number; previousHash: Head['hash']; nowMs: number },
): TimelineRow {
  const entry = withoutSecrets(noted)
  const atMs = Math.trunc(entry.atMs ?? nowMs - (entry.tookMs ?? 0))
  const detail = plainDetail(entry.detail ?? {})
  const links = plainLinks(entry.links ?? {})
  const row = {
    sequence,
    atMs,
    kind: plainText(entry.kind, most.name),
    actorKind: entry.actor.kind,
    actorName: plainText(entry.actor.name, most.name),
    subject: entry.subject === undefined || entry.subject === '' ? null : plainText(entry.subject, most.name),
    summary: plainText(entry.summary, most.summary),
    detail: canonicalJson(detail),
    task: entry.task ?? null,
    links: Object.keys(links).length === 0 ? null : canonicalJson(links),
    previousHash,
  }
  const hash = entryHash({
    sequence,
    at: isoTime(atMs),
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

function plainDetail(detail: NonNullable<NotedEntry['detail']>): NonNullable<NotedEntry['detail']> {
  // Whoever reads it leaves out a field of this name, and would find another hash.
  const fields = Object.entries(detail)
    .filter(([name]) => name !== '__proto__')
    .slice(0, most.fields)
  return Object.fromEntries(
    fields.map(([name, value]) => {
      const plain = typeof value === 'string' ? plainText(value, most.value) : value
      return [plainText(name, most.name), typeof plain === 'number' && !Number.isFinite(plain) ? null : plain]
    }),
  )
}

function plainLinks(links: Links): Links {
  return Object.fromEntries(
    Object.entries(links)
      .filter(([, id]) => id !== undefined && id !== '')
      .map(([kind, id]) => [kind, plainText(id, most.name)]),
  )
}

/** What SQLite gives back as it was given: whole characters, and none that ends a text. */
function plainText(text: string, length: number): string {
  const cut = text.length > length ? `${text.slice(0, length - 1)}…` : text
  return cut.toWellFormed().replaceAll('\0', '\u{fffd}')
}
