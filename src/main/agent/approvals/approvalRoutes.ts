import { AppError } from '#shared/appError.ts'
import {
  askIntent,
  cancelIntent,
  changePolicy,
  decideIntent,
  getIntent,
  getPolicy,
  type IntentRecord,
  listGrants,
  listIntents,
  type Requester,
  revokeGrant,
  switchStop,
} from '#shared/contract/intents.ts'
import { createLocalEndpoint, type LocalEndpoint } from '../base/localEndpoint.ts'
import { createApprovalConfirmation } from './approvalConfirmation.ts'
import type { ApprovalDialog } from './approvalDialog.ts'
import type { Approvals } from './approvals.ts'
import type { IdempotentSubmissions } from './idempotentSubmissions.ts'
import type { RateLimitedSubmissions } from './limitSubmissions.ts'
import type { PolicyConfirmation } from './policyConfirmation.ts'

type Options = {
  approvals: Approvals
  limitedApprovals: RateLimitedSubmissions
  repeats: IdempotentSubmissions
  dialog: ApprovalDialog | undefined
  policy: PolicyConfirmation
}

export function createApprovalRoutes({
  approvals,
  limitedApprovals,
  repeats,
  dialog,
  policy,
}: Options): LocalEndpoint[] {
  const decide = createApprovalConfirmation(approvals, dialog)
  return [
    createLocalEndpoint(askIntent, async ({ body }, call) => {
      if (body.intent.kind === 'tool.call') {
        throw new AppError('intent/invalid', 'Clients cannot submit a `tool.call`. Call the tool instead.')
      }
      const { requester } = call
      return approvals.get(
        await repeats.once(
          call,
          async (onStored) => (await limitedApprovals.submit({ ...body, requester, onStored })).id,
        ),
      )
    }),
    createLocalEndpoint(getIntent, async ({ params, query }, { requester, signal }) => {
      const record = requireVisible(approvals.get(params.intentId), requester)
      return approvals.waitUntilSettled(record.id, { waitMs: query.wait_ms, signal })
    }),
    createLocalEndpoint(cancelIntent, ({ params }, { requester }) => {
      const record = requireVisible(approvals.get(params.intentId), requester)
      return limitedApprovals.cancel(record.id, requester)
    }),
    createLocalEndpoint(listIntents, ({ query }) => approvals.list(query)),
    createLocalEndpoint(decideIntent, ({ params, body }, { signal }) =>
      decide(approvals.get(params.intentId), body, signal),
    ),
    createLocalEndpoint(listGrants, () => ({ grants: approvals.grants() })),
    createLocalEndpoint(revokeGrant, ({ params }) => {
      approvals.revokeGrant(params.grantId)
      return { success: true, id: params.grantId }
    }),
    createLocalEndpoint(getPolicy, () => approvals.policy()),
    createLocalEndpoint(changePolicy, ({ body }, { signal }) => policy.change(body, signal)),
    createLocalEndpoint(switchStop, ({ body }, { signal }) => policy.switchStop(body.stopped, signal)),
  ]
}

/** Hides intents of other requesters from a client. @throws AppError `intent/not-found` */
function requireVisible(record: IntentRecord, requester: Requester): IntentRecord {
  const isOwn = record.requester.kind === requester.kind && record.requester.id === requester.id
  if (isOwn || requester.kind === 'person') return record
  throw new AppError('intent/not-found', `There is no request \`${record.id}\`.`)
}
