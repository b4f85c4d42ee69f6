import type { Asker, Grant, IntentKind, IntentRecord, Policy } from '../../../shared/contract/intents.ts'
import { firstRule } from './policyMatch.ts'
import { ruleWords } from './policyWords.ts'

/** An intent as policy and grants see it. */
export type Judged = {
  kind: IntentKind
  asker: Asker
  host: string | null
  scope: string | null
  accountId: Grant['account_id']
  amountMicroUsd: bigint | null
}

export type Verdict =
  | { effect: 'ask' }
  | { effect: 'allow' | 'deny'; by: 'policy' | 'grant' | 'stop'; detail: string; grantId?: string }

type Given = {
  policy: Policy
  /** Those that still hold. */
  grants: readonly Grant[]
  /** Host of the service that the agent is connected to. */
  serviceHost: string | undefined
}

/** Stop switch, hard rules, the first rule that fits, grants; where nothing decides, the person is asked. */
export function judge(intent: Judged, { policy, grants, serviceHost }: Given): Verdict {
  if (policy.stopped) return { effect: 'deny', by: 'stop', detail: 'Signing is stopped.' }
  const { kind, asker, host, amountMicroUsd } = intent
  if (kind === 'message' && asker.kind !== 'person') {
    return { effect: 'deny', by: 'policy', detail: 'Only you can ask to sign a message.' }
  }
  const rule = firstRule(policy.rules, { kind, askerKind: asker.kind, host, amountMicroUsd })
  const detail = rule && `Decided by your rule “${ruleWords(rule)}”.`
  if (rule && detail && rule.effect === 'deny') return { effect: 'deny', by: 'policy', detail }
  // Above the threshold nothing is signed without the person, whoever was allowed what.
  if (isAbove(amountMicroUsd, policy.confirm_above_micro_usd)) return { effect: 'ask' }
  if (rule && detail && rule.effect === 'allow') return { effect: 'allow', by: 'policy', detail }
  const grant = grants.find((it) => grantFits(it, intent))
  if (grant)
    return { effect: 'allow', by: 'grant', detail: 'You approved requests like this in advance.', grantId: grant.id }
  if (!rule && isOwnSignIn(intent, serviceHost)) {
    return { effect: 'allow', by: 'policy', detail: 'Steward is signing in to its own service.' }
  }
  return { effect: 'ask' }
}

/** Kinds that are approved one at a time. */
const neverGranted: readonly IntentKind[] = ['identity.register', 'message']

export function mayBeGranted(kind: IntentKind): boolean {
  return !neverGranted.includes(kind)
}

export function isAbove(amountMicroUsd: bigint | null, threshold: string): boolean {
  return amountMicroUsd !== null && amountMicroUsd > BigInt(threshold)
}

export function amountOf({ amount_micro_usd: amount }: Pick<IntentRecord, 'amount_micro_usd'>): bigint | null {
  return amount === null ? null : BigInt(amount)
}

function grantFits(grant: Grant, intent: Judged): boolean {
  return (
    mayBeGranted(intent.kind) &&
    grant.kind === intent.kind &&
    grant.asker.kind === intent.asker.kind &&
    grant.asker.id === intent.asker.id &&
    grant.host === intent.host &&
    grant.scope === intent.scope &&
    grant.account_id === intent.accountId &&
    amountFits(grant.max_amount_micro_usd, intent.amountMicroUsd)
  )
}

function amountFits(most: string | null, amount: bigint | null): boolean {
  if (amount === null) return true
  return most !== null && amount <= BigInt(most)
}

function isOwnSignIn({ kind, asker, host }: Judged, serviceHost: string | undefined): boolean {
  return asker.kind === 'agent' && (kind === 'siwe' || kind === 'siws') && host !== null && host === serviceHost
}
