import { z } from 'zod'
import { IsoTime } from '../time.ts'
import { defineRoute } from './route.ts'
import { Links, LinkText, TaskId } from './timelineLinks.ts'

/** The agent's append-only log: each entry holds the hash of the one before. */
export const TimelineEntry = z.object({
  /** From 1, without gaps. */
  sequence: z.int(),
  at: IsoTime,
  /** `area.event`: `intent.signed`, `wallet.unlocked`, `sandbox.created`. */
  kind: z.string(),
  actor: z.object({ kind: z.enum(['person', 'client', 'tool', 'agent', 'service', 'system']), name: z.string() }),
  /** Subject: an intent, a sandbox, an account. Null if none. */
  subject: z.string().nullable(),
  /** One plain sentence without secrets. */
  summary: z.string(),
  detail: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
  /** Task of the entry. Null if unknown, and in entries of earlier versions. */
  task: z.string().nullable(),
  /** Links of the entry, by kind. */
  links: Links,
  /** SHA-256 as hexadecimal, of the entry's canonical JSON with `previous_hash` in it. */
  previous_hash: z.string(),
  hash: z.string(),
  /** Null: as it was written. Else what is wrong with it, in one sentence. */
  problem: z.string().nullable(),
})
export type TimelineEntry = z.infer<typeof TimelineEntry>

/** Returns the intent that an entry is about. */
export function getRequestId({
  kind,
  subject,
  detail,
}: Pick<TimelineEntry, 'kind' | 'subject' | 'detail'>): string | undefined {
  if (kind.startsWith('intent.')) return subject ?? undefined
  const { intent_id: intent } = detail
  return typeof intent === 'string' ? intent : undefined
}

const Filters = {
  /** Beginnings of words that all occur in the summary, the kind, the subject, the detail, the links or who did it. */
  search: z.string().max(200).optional(),
  /** `intent` for all kinds of an area, `intent.signed` for one. Several are parted by commas. */
  kinds: z.string().max(500).optional(),
  actor: z.enum(['person', 'client', 'tool', 'agent', 'service', 'system']).optional(),
  task: TaskId.optional(),
  /** Link that entries must have: `payment:pay_1`. */
  link: LinkText.optional(),
  from: IsoTime.optional(),
  to: IsoTime.optional(),
}

export const listTimeline = defineRoute({
  operation: 'timelineList',
  method: 'GET',
  path: '/local/activity',
  summary: 'List the entries of the log',
  description:
    'Returns entries in the order of the chain, newest first by default; all filters must match. Page with `before`, or with `after` and `order=oldest`. Entries of the service are written when copied: sort by `at` for the order of events.',
  tag: 'Activity',
  auth: 'person',
  query: z.object({
    ...Filters,
    /** Only entries below this sequence: the last one of the page before. */
    before: z.coerce.number().int().min(1).optional(),
    /** Only entries above this sequence: with `order=oldest`, the last one of the page before. */
    after: z.coerce.number().int().min(0).optional(),
    order: z.enum(['newest', 'oldest']).default('newest'),
    limit: z.coerce.number().int().min(1).max(500).default(100),
  }),
  response: z.object({
    entries: z.array(TimelineEntry),
    has_more: z.boolean(),
    request_states: z
      .record(z.string(), z.string())
      .describe('Latest kind (such as `intent.signed`) of each request in the entries, by id, regardless of filters'),
  }),
})

export const verifyTimeline = defineRoute({
  operation: 'timelineVerify',
  method: 'GET',
  path: '/local/activity/verify',
  summary: 'Check every entry against its hash and the one before it',
  description:
    'Reads the whole log and reports missing, changed, moved and inserted entries, at most 100 problems. Cannot detect a log that is rewritten as a whole with valid hashes.',
  tag: 'Activity',
  auth: 'person',
  response: z.object({
    ok: z.boolean(),
    checked: z.int(),
    /** The oldest entries, up to here, were cut off, as an entry of the log says. Null: none were. */
    cut_through: z.int().nullable(),
    /** Sequence and hash of the newest entry. Null for an empty log. */
    head: z.object({ sequence: z.int(), hash: z.string() }).nullable(),
    /** The first ones, oldest first. */
    problems: z.array(z.object({ sequence: z.int(), problem: z.string() })).max(100),
  }),
})

export const exportTimeline = defineRoute({
  operation: 'timelineExport',
  method: 'GET',
  path: '/local/activity/export',
  summary: 'Download the log, oldest first',
  description:
    'CSV is sorted by time: entries of the service are written when they are copied. JSON Lines keep the order of the chain, as checks need it.',
  tag: 'Activity',
  auth: 'person',
  query: z.object({ ...Filters, format: z.enum(['jsonl', 'csv']).default('jsonl') }),
  response: z.unknown(),
  raw: {
    response: { mediaTypes: ['application/x-ndjson', 'text/csv'], description: 'One entry a line.' },
    headers: {},
  },
})
