import { AppError } from '../../../shared/appError.ts'
import type { Grant, IntentRecord } from '../../../shared/contract/intents.ts'
import type { Decision } from './approvals.ts'
import { mayBeGranted } from './judge.ts'

/**
 * More of what is approved now: for the same asker, host, payee or chain, and account, and up to the same amount. The number of times
 * counts this one, which needs no grant.
 * @throws AppError `intent/invalid`
 */
export function newGrant(
  record: IntentRecord,
  { times, until }: NonNullable<Decision['grant']>,
  { id, nowMs }: { id: string; nowMs: number },
): Grant {
  if (!mayBeGranted(record.kind)) {
    throw new AppError('intent/invalid', 'Registrations and messages are approved one at a time.')
  }
  if (times === undefined && until === undefined) {
    throw new AppError('intent/invalid', '`grant` must say how many times, or until when.')
  }
  if (until !== undefined && Date.parse(until) <= nowMs) {
    throw new AppError('intent/invalid', `\`grant.until\` is ${until}, which is past.`)
  }
  return {
    id,
    kind: record.kind,
    asker: record.asker,
    host: record.host,
    scope: record.scope,
    account_id: record.account_id,
    max_amount_micro_usd: record.amount_micro_usd,
    times_left: times === undefined ? null : times - 1,
    until: until ?? null,
    created_at: new Date(nowMs).toISOString(),
  }
}
