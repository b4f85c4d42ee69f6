import { getToolCall } from '#shared/contract/toolCalls.ts'
import { createLocalEndpoint, type LocalEndpoint } from '../base/localEndpoint.ts'
import type { PendingCalls } from './pendingCalls.ts'
import { toRequesterKey } from './toolCaller.ts'

export function createToolCallRoutes(pending: Pick<PendingCalls, 'waitUntilSettled'>): LocalEndpoint[] {
  return [
    createLocalEndpoint(getToolCall, ({ params, query }, { asker, signal }) =>
      pending.waitUntilSettled(params.callId, { holder: toRequesterKey({ asker }), waitMs: query.wait_ms, signal }),
    ),
  ]
}
