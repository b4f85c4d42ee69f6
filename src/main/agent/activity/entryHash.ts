import { createHash } from 'node:crypto'
import type { TimelineEntry } from '../../../shared/contract/timeline.ts'

/** What is hashed: an entry without its own hash. */
export type HashedEntry = Omit<TimelineEntry, 'hash' | 'problem'>

/** Stands where the first entry has no other before it. */
export const genesisHash = '0'.repeat(64)

/**
 * SHA-256, as lower-case hexadecimal, of the entry's canonical JSON in UTF-8: the eight fields of `HashedEntry`, the
 * keys of every object sorted, no spaces, strings and numbers as `JSON.stringify` writes them.
 * @see https://www.rfc-editor.org/rfc/rfc8785
 */
export function entryHash({ sequence, at, kind, actor, subject, summary, detail, previous_hash }: HashedEntry): string {
  const hashed = { sequence, at, kind, actor, subject, summary, detail, previous_hash }
  return createHash('sha256').update(canonicalJson(hashed)).digest('hex')
}

export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const fields = Object.entries(value)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, field]) => `${JSON.stringify(name)}:${canonicalJson(field)}`)
  return `{${fields.join(',')}}`
}
