import type { z } from 'zod'
import { parseJson } from '#platform/parsing/boundedJson.ts'
import { TimelineEntry } from '#shared/contract/timeline.ts'
import { toIsoTime } from '#shared/time.ts'
import { genesisHash, hashEntry, toCanonicalJson } from './entryHash.ts'
import type { TimelineRow } from './timelineRepository.ts'

const { detail: Detail, actor: Actor, links: LinksOfEntry } = TimelineEntry.shape
/** Recorded truncation: the last removed sequence and the hash that the chain continues from. */
export type Truncation = { through: number; hash: string }

const maxTimeMs = 8.64e15

/**
 * Parses a row as an entry and reports problems of the row itself. `findLinkProblem` checks the link to its predecessor.
 */
export function parseEntry(row: TimelineRow): TimelineEntry {
  const time = formatTime(row)
  const detail = parseField(row.detail, Detail)
  const links = row.links === null ? {} : parseField(row.links, LinksOfEntry)
  const actor = Actor.safeParse({ kind: row.actorKind, name: row.actorName })
  const entry = {
    sequence: row.sequence,
    at: time ?? toIsoTime(0),
    kind: row.kind,
    actor: actor.data ?? { kind: 'system' as const, name: row.actorName },
    subject: row.subject,
    summary: row.summary,
    detail: detail ?? {},
    task: row.task,
    links: links ?? {},
    previous_hash: row.previousHash,
  }
  const problem = (): string | null => {
    if (time === undefined) return 'The entry was changed: its time is invalid.'
    if (!actor.success) return 'The entry was changed: its actor has an unknown kind.'
    if (detail === undefined) return 'The entry was changed: its detail is not the original JSON.'
    if (links === undefined || row.links === '{}') return 'The entry was changed: its links are not the original JSON.'
    if (hashEntry(entry) !== row.hash) return 'The entry was changed: it does not match its hash.'
    return null
  }
  return { ...entry, hash: row.hash, problem: problem() }
}

/** Checks a row against its predecessor, or against the recorded truncation if the log starts there. */
export function findLinkProblem(
  row: TimelineRow,
  previous: Pick<TimelineRow, 'sequence' | 'hash'> | undefined,
  cut: Truncation | undefined,
) {
  if (!previous && cut && row.sequence > 1) {
    // A row that is cut but not yet removed needs no predecessor; the row after the cut is checked against the recorded
    // hash.
    if (row.sequence <= cut.through) return null
    if (row.sequence === cut.through + 1) {
      return row.previousHash === cut.hash
        ? null
        : `The entry does not follow entry ${cut.through}, the last pruned entry.`
    }
  }
  const before = previous?.sequence ?? 0
  if (row.sequence > before + 1) return `Before this entry, ${describeGap(before + 1, row.sequence - 1)}.`
  if (row.previousHash !== (previous?.hash ?? genesisHash)) {
    return previous
      ? `The entry does not follow entry ${before}: one of them was replaced, moved or inserted.`
      : 'This is not the original first entry of the log.'
  }
  return null
}

export function describeGap(first: number, last: number): string {
  return first === last ? `entry ${first} is missing` : `entries ${first} to ${last} are missing`
}

function formatTime({ atMs }: TimelineRow): string | undefined {
  return Math.abs(atMs) <= maxTimeMs ? toIsoTime(atMs) : undefined
}

/** Parses the exact serialized text only. Different whitespace or duplicate keys count as changes. */
function parseField<T>(text: string, schema: z.ZodType<T>): T | undefined {
  try {
    const parsed = schema.safeParse(parseJson(text))
    return parsed.success && toCanonicalJson(parsed.data) === text ? parsed.data : undefined
  } catch {
    return undefined // invalid JSON
  }
}
