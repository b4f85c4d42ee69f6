import { getToolCall } from '#shared/contract/toolCalls.ts'
import { type LocalEndpoint, localEndpoint } from '../base/localEndpoint.ts'
import type { PendingCalls } from './pendingCalls.ts'
import { holderOf } from './toolCaller.ts'

export function toolCallRoutes(pending: Pick<PendingCalls, 'settled'>): LocalEndpoint[] {
  return [
    localEndpoint(getToolCall, ({ params, query }, { asker, signal }) =>
      pending.settled(params.callId, { holder: holderOf({ asker }), waitMs: query.wait_ms, signal }),
    ),
  ]
}
