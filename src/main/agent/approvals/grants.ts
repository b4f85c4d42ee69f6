import { AppError } from '#shared/appError.ts'
import type { Grant, IntentKind, IntentRecord } from '#shared/contract/intents.ts'
import type { Decision } from './approvals.ts'
import type { PolicyInput } from './toPolicyInput.ts'

/**
 * Creates a grant for similar requests: same requester, host, payee or chain, path (if `only_path`) and account, and at
 * most the same amount. The number of uses includes this intent, which needs no grant.
 * @throws AppError `intent/invalid`
 */
export function createGrant(
  record: IntentRecord,
  { times, until, only_path: onlyPath = false }: NonNullable<Decision['grant']>,
  { id, nowMs }: { id: string; nowMs: number },
): Grant {
  if (!mayBeGranted(record.kind)) {
    throw new AppError('intent/invalid', 'Registrations and messages can only be approved one at a time.')
  }
  if (times === undefined && until === undefined) {
    throw new AppError('intent/invalid', '`grant` must have `times` or `until`.')
  }
  if (until !== undefined && Date.parse(until) <= nowMs) {
    throw new AppError('intent/invalid', `\`grant.until\` is in the past: ${until}.`)
  }
  return {
    id,
    kind: record.kind,
    requester: record.requester,
    host: record.host,
    scope: record.scope,
    path: onlyPath ? (record.path ?? null) : null,
    account_id: record.account_id,
    max_amount_micro_usd: record.amount_micro_usd,
    times_left: times === undefined ? null : times - 1,
    until: until ?? null,
    created_at: new Date(nowMs).toISOString(),
  }
}

/** Returns the words of a tool call's scope, `tool target`. One of them may be a sandbox, domain or tool server. */
export function listGrantTargets({ kind, scope }: Pick<Grant, 'kind' | 'scope'>): string[] {
  return kind === 'tool.call' && scope !== null ? scope.split(' ').slice(1) : []
}

export function findMatchingGrant(grants: readonly Grant[], intent: PolicyInput): Grant | undefined {
  return grants.find((grant) => matchesGrant(grant, intent))
}

/** Kinds that are only approved individually. */
const neverGranted: readonly IntentKind[] = ['identity.register', 'message']

function mayBeGranted(kind: IntentKind): boolean {
  return !neverGranted.includes(kind)
}

function matchesGrant(grant: Grant, intent: PolicyInput): boolean {
  return (
    mayBeGranted(intent.kind) &&
    grant.kind === intent.kind &&
    grant.requester.kind === intent.requester.kind &&
    grant.requester.id === intent.requester.id &&
    grant.host === intent.host &&
    grant.scope === intent.scope &&
    (grant.path == null || grant.path === intent.path) &&
    grant.account_id === intent.accountId &&
    isWithinAmount(grant.max_amount_micro_usd, intent.amountMicroUsd)
  )
}

function isWithinAmount(limit: string | null, amount: bigint | null): boolean {
  if (amount === null) return true
  return limit !== null && amount <= BigInt(limit)
}
