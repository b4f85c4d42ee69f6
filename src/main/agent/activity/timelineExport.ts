import type { TimelineEntry } from '#shared/contract/timeline.ts'
import { formatCsvLine } from '#shared/csv.ts'
import { selectHashedFields, toCanonicalJson } from './entryHash.ts'

const columns = [
  'sequence',
  'at',
  'kind',
  'actor_kind',
  'actor_name',
  'subject',
  'summary',
  'detail',
  'task',
  'links',
  'previous_hash',
  'hash',
] as const

/** Formats one entry per line. Without `hash` and with sorted keys, a line equals the hashed text. */
export function* formatJsonLines(entries: Iterable<TimelineEntry>): Generator<string> {
  for (const entry of entries) yield `${toCanonicalJson({ ...selectHashedFields(entry), hash: entry.hash })}\n`
}

/** Formats entries as CSV (RFC 4180). No cell can be interpreted as a spreadsheet formula. */
export function* formatCsvLines(entries: Iterable<TimelineEntry>): Generator<string> {
  yield formatCsvLine(columns)
  for (const { actor, detail, links, subject, task, ...entry } of entries) {
    const cells = {
      ...entry,
      actor_kind: actor.kind,
      actor_name: actor.name,
      subject: subject ?? '',
      detail: toCanonicalJson(detail),
      task: task ?? '',
      links: Object.keys(links).length === 0 ? '' : toCanonicalJson(links),
    }
    yield formatCsvLine(columns.map((name) => String(cells[name])))
  }
}
