import { z } from 'zod'
import { unknownIds } from '../ids.ts'
import { IsoTime } from '../time.ts'
import { defineRoute } from './route.ts'

/** Tool calls that took longer than their caller waited, or that wait for the user. */

export const ToolCallId = z
  .string()
  .regex(/^call_[0-9a-f]{24}$/, 'must be an id that begins with call_')
  .register(unknownIds, { code: 'tool/call-not-found', message: (id) => `There is no tool call ${id}.` })
  .brand<'ToolCallId'>()
export type ToolCallId = z.infer<typeof ToolCallId>

/** State of a tool call that outlives its request. Only `waiting` and `running` can change. */
export const ToolCallState = z
  .enum(['waiting', 'running', 'done', 'failed', 'denied', 'unclear'])
  .describe(
    [
      '`waiting`: waits for a decision of the user.',
      '`running`: started.',
      '`done`: ended. `result` is the result of the tool.',
      '`failed`: ended with an error. `error` is the reason.',
      '`denied`: denied by the user or by a rule, or not decided in time. Nothing was done.',
      '`unclear`: Steward stopped during the call, so its outcome is unknown. Check its effect before you repeat it.',
    ].join(' '),
  )
export type ToolCallState = z.infer<typeof ToolCallState>

/** Tool call that waits for approval or ran longer than its request, with its result once done. */
export const ToolCallRecord = z.object({
  id: ToolCallId,
  tool: z.string(),
  state: ToolCallState,
  sentence: z.string(),
  intent_id: z.string().nullable().describe('Id of the corresponding request in Approvals.'),
  result: z.record(z.string(), z.unknown()).nullable(),
  error: z.string().nullable(),
  hint: z.string().nullable(),
  created_at: IsoTime,
  expires_at: IsoTime.nullable().describe('Time at which the call is refused if it is still undecided.'),
})
export type ToolCallRecord = z.infer<typeof ToolCallRecord>

export const getToolCall = defineRoute({
  operation: 'toolCallGet',
  method: 'GET',
  path: '/local/tools/calls/:callId',
  summary: 'Get a tool call, optionally waiting until it ends',
  description:
    'With `wait_ms`, returns when the call ends or after `wait_ms` at the latest. Only the requester of the call can read it; others get 404 `tool/call-not-found`. Ended calls are deleted after a day.',
  tag: 'Tools',
  auth: 'client',
  params: z.object({ callId: ToolCallId }),
  query: z.object({
    wait_ms: z.coerce.number('must be a number').int().min(0).max(60_000, 'must be 0 to 60000').default(0),
  }),
  response: ToolCallRecord,
})
