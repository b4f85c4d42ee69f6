import { setImmediate } from 'node:timers/promises'
import type { Output, Parsed } from '#shared/contract/route.ts'
import { type exportTimeline, getRequestId, type listTimeline, type TimelineEntry } from '#shared/contract/timeline.ts'
import type { LinkKind } from '#shared/contract/timelineLinks.ts'
import { findLinkProblem, parseEntry } from './rowProblems.ts'
import { findLastCut } from './timelineCut.ts'
import type { EntryLink, RowFilter, TimelineRepository, TimelineRow } from './timelineRepository.ts'

type TimelineQuery = Parsed<typeof listTimeline>['query']
type Filters = Omit<Parsed<typeof exportTimeline>['query'], 'format'>

/** Rows scanned per batch. Other work can run between batches. */
const batchSize = 5_000
const exportBatchSize = 200

/** Lists matching entries between `after` and `before` in the requested order, each with its problem. */
export async function listEntries(
  records: TimelineRepository,
  { before, after = 0, order, limit, ...filters }: TimelineQuery,
  signal: AbortSignal,
): Promise<Output<typeof listTimeline>> {
  const filter = toRowFilter(filters)
  const newestFirst = order === 'newest'
  const atOnce = isIndexed(filter) ? Number.POSITIVE_INFINITY : batchSize
  const matches: TimelineRow[] = []
  let from = Math.max(after + 1, records.firstSequence())
  let below = before ?? records.lastSequence() + 1
  while (from < below && matches.length <= limit) {
    const piece = newestFirst
      ? { from: Math.max(from, below - atOnce), below }
      : { from, below: Math.min(below, from + atOnce) }
    matches.push(...records.matching(filter, { ...piece, newestFirst, limit: limit + 1 - matches.length }))
    if (newestFirst) below = piece.from
    else from = piece.below
    if (from >= below || matches.length > limit) break
    await setImmediate()
    signal.throwIfAborted()
  }
  // Retention may have removed the oldest rows during the search.
  const first = records.firstSequence()
  const present = matches.filter(({ sequence }) => sequence >= first)
  const entries = present.slice(0, limit).map(createRowParser(records))
  return { entries, has_more: present.length > limit, request_states: readRequestStates(records, entries) }
}

/** Returns the latest states of requests, because a filter may hide the entries with the outcome. */
function readRequestStates(
  records: Pick<TimelineRepository, 'ofRequest'>,
  entries: readonly TimelineEntry[],
): Record<string, string> {
  const ids = new Set(entries.flatMap((entry) => (entry.problem === null ? (getRequestId(entry) ?? []) : [])))
  return Object.fromEntries(
    [...ids].flatMap((id) => {
      const newest = records
        .ofRequest(id)
        .map(parseEntry)
        .find(({ problem }) => problem === null)
      return newest ? [[id, newest.kind]] : []
    }),
  )
}

/** Yields matching entries in batches, oldest first. Reads the next batch only when the consumer requests it. */
export function* exportEntries(records: TimelineRepository, filters: Filters): Generator<TimelineEntry> {
  const filter = toRowFilter(filters)
  const end = records.lastSequence() + 1
  for (let from = Math.max(1, records.firstSequence()); from < end; ) {
    const rows = records.matching(filter, { from, below: end, newestFirst: false, limit: exportBatchSize })
    yield* rows.map(parseEntry)
    const last = rows.at(-1)
    if (!last || rows.length < exportBatchSize) return
    from = last.sequence + 1
  }
}

/** Creates a parser that reports problems of a row and of its position in the chain. */
export function createRowParser(records: TimelineRepository): (row: TimelineRow) => TimelineEntry {
  const first = records.firstSequence()
  const cut = first > 1 ? findLastCut(records, records.lastSequence()) : undefined
  return (row) => {
    const entry = parseEntry(row)
    if (entry.problem !== null) return entry
    if (row.sequence === first) return { ...entry, problem: findLinkProblem(row, undefined, cut) }
    const previous = records.find(row.sequence - 1) ?? { sequence: Math.max(0, row.sequence - 2), hash: '' }
    return { ...entry, problem: findLinkProblem(row, previous, undefined) }
  }
}

/** Whether the filter uses an index instead of a full scan. */
function isIndexed({ words, task, link }: RowFilter): boolean {
  return words.length > 0 || task !== undefined || link !== undefined
}

function toRowFilter({ search = '', kinds = '', actor, task, link, from, to }: Filters): RowFilter {
  return {
    words: search.split(/\s+/).filter((word) => word !== ''),
    kinds: kinds
      .split(',')
      .map((kind) => kind.trim())
      .filter((kind) => kind !== ''),
    actor,
    task,
    link: link === undefined ? undefined : parseLink(link),
    fromMs: from === undefined ? undefined : Date.parse(from),
    toMs: to === undefined ? undefined : Date.parse(to),
  }
}

/** Parses a link such as `payment:pay_1`, already validated by the contract. */
function parseLink(text: string): EntryLink {
  const separator = text.indexOf(':')
  return { kind: text.slice(0, separator) as LinkKind, id: text.slice(separator + 1) }
}
