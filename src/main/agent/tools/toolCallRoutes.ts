import { getToolCall } from '#shared/contract/toolCalls.ts'
import { type LocalEndpoint, localEndpoint } from '../base/localEndpoint.ts'
import type { PendingCalls } from './pendingCalls.ts'
import { requesterKey } from './toolCaller.ts'

export function createToolCallRoutes(pending: Pick<PendingCalls, 'waitUntilSettled'>): LocalEndpoint[] {
  return [
    localEndpoint(getToolCall, ({ params, query }, { asker, signal }) =>
      pending.waitUntilSettled(params.callId, { holder: requesterKey({ asker }), waitMs: query.wait_ms, signal }),
    ),
  ]
}
