import { z } from 'zod'
import { IsoTime } from '../time.ts'
import { defineRoute } from './route.ts'
import { Links, LinkText, TaskId } from './timelineLinks.ts'

/** Entry of the local agent's activity log, which is append-only and hash-chained. */
export const TimelineEntry = z.object({
  /** Sequence number from 1, without gaps. */
  sequence: z.int(),
  at: IsoTime,
  /** `area.event`, such as `intent.signed`, `wallet.unlocked` or `sandbox.created`. */
  kind: z.string(),
  actor: z.object({ kind: z.enum(['person', 'client', 'tool', 'agent', 'service', 'system']), name: z.string() }),
  /** Subject of the entry: an intent, a sandbox, an account. Null if there is none. */
  subject: z.string().nullable(),
  /** Description as one sentence. Contains no secrets. */
  summary: z.string(),
  detail: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
  /** Task of the entry. Null if unknown, and in entries of earlier versions. */
  task: z.string().nullable(),
  links: Links,
  /** SHA-256 of the entry's canonical JSON, including `previous_hash`, in hexadecimal. */
  previous_hash: z.string(),
  hash: z.string(),
  /** Integrity error as a sentence. Null if the entry is unchanged. */
  problem: z.string().nullable(),
})
export type TimelineEntry = z.infer<typeof TimelineEntry>

/** Returns the id of the intent that an entry refers to. */
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
  /** Word prefixes that must all occur in the summary, kind, subject, detail, links or actor. */
  search: z.string().max(200).optional(),
  /** `intent` for all kinds of an area, `intent.signed` for one. Comma-separated. */
  kinds: z.string().max(500).optional(),
  actor: z.enum(['person', 'client', 'tool', 'agent', 'service', 'system']).optional(),
  task: TaskId.optional(),
  /** Link that entries must have, such as `payment:pay_1`. */
  link: LinkText.optional(),
  from: IsoTime.optional(),
  to: IsoTime.optional(),
}

export const listTimeline = defineRoute({
  operation: 'timelineList',
  method: 'GET',
  path: '/local/activity',
  summary: 'List activity log entries',
  description:
    'Returns entries in chain order, newest first by default. Entries must match all filters. Paginate with `before`, or with `after` and `order=oldest`. Entries of the service are written when they are copied, so sort by `at` for the order of events.',
  tag: 'Activity',
  auth: 'person',
  query: z.object({
    ...Filters,
    /** Only entries below this sequence: the last one of the previous page. */
    before: z.coerce.number().int().min(1).optional(),
    /** Only entries above this sequence: the last one of the previous page with `order=oldest`. */
    after: z.coerce.number().int().min(0).optional(),
    order: z.enum(['newest', 'oldest']).default('newest'),
    limit: z.coerce.number().int().min(1).max(500).default(100),
  }),
  response: z.object({
    entries: z.array(TimelineEntry),
    has_more: z.boolean(),
    request_states: z
      .record(z.string(), z.string())
      .describe(
        'Latest kind (such as `intent.signed`) of each request that the entries mention, by request id, regardless of filters',
      ),
  }),
})

export const verifyTimeline = defineRoute({
  operation: 'timelineVerify',
  method: 'GET',
  path: '/local/activity/verify',
  summary: 'Verify the hash chain of the activity log',
  description:
    'Checks each entry against its hash and the previous entry. Reports missing, changed, moved and inserted entries, at most 100 problems. Cannot detect a log that has been completely rewritten with valid hashes.',
  tag: 'Activity',
  auth: 'person',
  response: z.object({
    ok: z.boolean(),
    checked: z.int(),
    /** Sequence up to which the oldest entries were trimmed, as recorded in the log. Null if none were trimmed. */
    cut_through: z.int().nullable(),
    /** Sequence and hash of the newest entry. Null if the log is empty. */
    head: z.object({ sequence: z.int(), hash: z.string() }).nullable(),
    /** First problems, oldest first. */
    problems: z.array(z.object({ sequence: z.int(), problem: z.string() })).max(100),
  }),
})

export const exportTimeline = defineRoute({
  operation: 'timelineExport',
  method: 'GET',
  path: '/local/activity/export',
  summary: 'Download the activity log, oldest first',
  description:
    'CSV is sorted by time, because entries of the service are written when they are copied. JSON Lines preserve the order of the chain, which verification requires.',
  tag: 'Activity',
  auth: 'person',
  query: z.object({ ...Filters, format: z.enum(['jsonl', 'csv']).default('jsonl') }),
  response: z.unknown(),
  raw: {
    response: { mediaTypes: ['application/x-ndjson', 'text/csv'], description: 'One entry per line.' },
    headers: {},
  },
})
