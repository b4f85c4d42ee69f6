import { z } from 'zod'
import { unknownIds } from '../ids.ts'
import { IsoTime } from '../time.ts'
import { defineRoute } from './route.ts'

/** Size limits of terminal recordings. */
export const recordingLimits = {
  /** Maximum size of one terminal's file. Later output is not recorded. */
  maxBytes: 16 * 1024 * 1024,
  /** Maximum size of all recordings. The oldest are removed. */
  maxBytesOfAll: 512 * 1024 * 1024,
} as const

/** Recorded terminal output in asciicast v2 format. */
export const Recording = z.object({
  id: z.string(),
  sandbox_id: z.string(),
  sandbox_name: z.string(),
  terminal_id: z.string(),
  command: z.string(),
  started_at: IsoTime,
  /** Time of the last output, in milliseconds. */
  duration_ms: z.int(),
  bytes: z.int(),
  /** `running`: recording continues. `cut`: later output was not recorded. */
  state: z.enum(['running', 'ended', 'cut']),
  /** Whether output was lost before it could be recorded. */
  missed: z.boolean(),
})
export type Recording = z.infer<typeof Recording>

const params = z.object({
  recordingId: z
    .string()
    .regex(/^rec_[0-9a-f]{24}$/)
    .register(unknownIds, { code: 'recording/not-found', message: (id) => `There is no recording ${id}.` }),
})

export const listRecordings = defineRoute({
  operation: 'recordingList',
  method: 'GET',
  path: '/local/recordings',
  summary: 'List terminal recordings, newest first',
  description: 'Paginate with `offset` and `limit`. `total` and `bytes` cover all recordings that match the filters.',
  tag: 'Activity',
  auth: 'person',
  query: z.object({
    sandbox_id: z.string().max(100).optional(),
    terminal_id: z.string().max(100).optional(),
    offset: z.coerce.number().int().min(0).default(0),
    limit: z.coerce.number().int().min(1).max(500).default(100),
  }),
  response: z.object({ recordings: z.array(Recording), total: z.int(), bytes: z.int() }),
})

export const readRecording = defineRoute({
  operation: 'recordingRead',
  method: 'GET',
  path: '/local/recordings/:recordingId',
  summary: 'Download a recording as asciicast v2',
  description: `Returns the output recorded so far if the terminal is still running. A recording has at most ${recordingLimits.maxBytes / 1024 ** 2} MiB. Fails with 404 \`recording/not-found\`.`,
  tag: 'Activity',
  auth: 'person',
  refusals: [404],
  params,
  response: z.unknown(),
  raw: {
    response: {
      mediaTypes: ['application/x-asciicast'],
      description: 'A header line, followed by one line per event.',
    },
    headers: {},
  },
})

export const deleteRecording = defineRoute({
  operation: 'recordingDelete',
  method: 'DELETE',
  path: '/local/recordings/:recordingId',
  summary: 'Delete a recording',
  description:
    'This cannot be undone. If the terminal is still running, its recording does not resume. Adds an entry to the activity log.',
  tag: 'Activity',
  auth: 'person',
  refusals: [404],
  params,
  response: z.object({ success: z.literal(true) }),
})

export const deleteRecordings = defineRoute({
  operation: 'recordingsDelete',
  method: 'DELETE',
  path: '/local/recordings',
  summary: 'Delete all recordings',
  description:
    'This cannot be undone. Running terminals are no longer recorded; new terminals are. Returns the number of deleted recordings.',
  tag: 'Activity',
  auth: 'person',
  response: z.object({ deleted: z.int() }),
})
