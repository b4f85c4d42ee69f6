import type { TimelineEntry } from '../../../shared/contract/timeline.ts'
import { csvLine } from '../../platform/csvCell.ts'
import { canonicalJson } from './entryHash.ts'

const columns = [
  'sequence',
  'at',
  'kind',
  'actor_kind',
  'actor_name',
  'subject',
  'summary',
  'detail',
  'previous_hash',
  'hash',
] as const

/** One entry a line. Without `hash` and with sorted keys it is the very text that was hashed. */
export function* jsonLines(entries: Iterable<TimelineEntry>): Generator<string> {
  for (const { problem: _, ...entry } of entries) yield `${canonicalJson(entry)}\n`
}

/** RFC 4180, and no cell that a spreadsheet would take for a formula. */
export function* csvLines(entries: Iterable<TimelineEntry>): Generator<string> {
  yield csvLine(columns)
  for (const { actor, detail, subject, ...entry } of entries) {
    const cells = {
      ...entry,
      actor_kind: actor.kind,
      actor_name: actor.name,
      subject: subject ?? '',
      detail: canonicalJson(detail),
    }
    yield csvLine(columns.map((name) => String(cells[name])))
  }
}
