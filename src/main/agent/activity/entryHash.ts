import { createHash } from 'node:crypto'
import type { TimelineEntry } from '#shared/contract/timeline.ts'

/** Content covered by the hash: an entry without its own hash. */
export type HashedEntry = Omit<TimelineEntry, 'hash' | 'problem'>

/** Previous hash of the first entry. */
export const genesisHash = '0'.repeat(64)

/** Returns the SHA-256 hash of `serializeEntry` in UTF-8, as lower-case hexadecimal. */
export function hashEntry(entry: HashedEntry): string {
  return createHash('sha256').update(serializeEntry(entry)).digest('hex')
}

/**
 * Serializes an entry as canonical JSON: the fields of `HashedEntry`, with sorted keys in every object, no spaces, and
 * strings and numbers as `JSON.stringify` writes them. Omits an absent `task` and empty `links`, because entries of
 * earlier versions lack both.
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
