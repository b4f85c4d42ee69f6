import { getToolCall } from '#shared/contract/toolCalls.ts'
import { createLocalEndpoint, type LocalEndpoint } from '../base/localEndpoint.ts'
import { toRequesterKey } from '../base/toolCaller.ts'
import type { PendingCalls } from './pendingCalls.ts'

export function createToolCallRoutes(pending: Pick<PendingCalls, 'waitUntilSettled'>): LocalEndpoint[] {
  return [
    createLocalEndpoint(getToolCall, ({ params, query }, { requester, signal }) =>
      pending.waitUntilSettled(params.callId, { holder: toRequesterKey({ requester }), waitMs: query.wait_ms, signal }),
    ),
  ]
}
