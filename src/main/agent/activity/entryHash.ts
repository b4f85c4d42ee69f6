import { createHash } from 'node:crypto'
import type { TimelineEntry } from '#shared/contract/timeline.ts'

/** Content that the hash covers: an entry without its own hash. */
export type HashedEntry = Omit<TimelineEntry, 'hash' | 'problem'>

/** Stands where the first entry has no other before it. */
export const genesisHash = '0'.repeat(64)

/** SHA-256, as lower-case hexadecimal, of `hashedText` in UTF-8. */
export function hashEntry(entry: HashedEntry): string {
  return createHash('sha256').update(serializeEntry(entry)).digest('hex')
}

/**
 * The entry's canonical JSON: the fields of `HashedEntry`, `task` and `links` only where there are any, as entries of
 * earlier versions have none; the keys of every object sorted, no spaces, strings and numbers as `JSON.stringify` writes them.
 * @see https://www.rfc-editor.org/rfc/rfc8785
 */
export function serializeEntry(entry: HashedEntry): string {
  return toCanonicalJson(selectHashedFields(entry))
}

export function selectHashedFields(entry: HashedEntry): Record<string, unknown> {
  const { sequence, at, kind, actor, subject, summary, detail, task, links, previous_hash } = entry
  return {
    ...{ sequence, at, kind, actor, subject, summary, detail, previous_hash },
    ...(task !== null && { task }),
    ...(Object.keys(links).length > 0 && { links }),
  }
}

export function toCanonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toCanonicalJson).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const fields = Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, field]) => `${JSON.stringify(name)}:${toCanonicalJson(field)}`)
  return `{${fields.join(',')}}`
}
