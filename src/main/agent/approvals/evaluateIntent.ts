import { describeRule } from '#shared/contract/intentLabels.ts'
import type { Grant, Policy, PolicyRule } from '#shared/contract/intents.ts'
import { parseServerName } from '#shared/contract/toolServers.ts'
import { findMatchingGrant } from './grants.ts'
import { findFirstRule } from './policyMatch.ts'
import { isAbove, type PolicyInput } from './toPolicyInput.ts'

export type PolicyEvaluation =
  | { effect: 'ask' }
  | { effect: 'allow' | 'deny'; by: 'policy' | 'grant' | 'stop' | 'steward'; detail: string }

type EvaluationInput = {
  policy: Policy
  /** Grants that have not expired. */
  grants: readonly Grant[]
  serviceHost: string | undefined
}

/**
 * Evaluates the stop switch, the hard rules, the first matching rule and the grants, in this order. If no check
 * decides, the user is asked.
 */
export function evaluateIntent(
  intent: PolicyInput,
  { policy, grants, serviceHost }: EvaluationInput,
): PolicyEvaluation {
  if (policy.stopped) return { effect: 'deny', by: 'stop', detail: 'Everything is stopped.' }
  const { kind, requester, host, amountMicroUsd } = intent
  if (kind === 'message' && requester.kind !== 'person') {
    return { effect: 'deny', by: 'steward', detail: 'Only you can ask to sign a message.' }
  }
  const matching = findFirstRule(policy.rules, { kind, requesterKind: requester.kind, host, amountMicroUsd })
  // A rule for Steward's own destructive tools does not extend to third-party tools, nor does it allow a key to exceed
  // its limits.
  const rule = matching?.effect === 'allow' && (isServerToolCall(intent) || requester.limited) ? undefined : matching
  const detail = rule && describeRuleDetail(rule)
  if (rule && detail && rule.effect === 'deny') return { effect: 'deny', by: 'policy', detail }
  // Above the threshold, only the user can approve.
  if (isAbove(amountMicroUsd, policy.confirm_above_micro_usd)) return { effect: 'ask' }
  if (rule && detail && rule.effect === 'allow') return { effect: 'allow', by: 'policy', detail }
  const grant = findMatchingGrant(grants, intent)
  if (grant) return { effect: 'allow', by: 'grant', detail: 'You approved requests like this in advance.' }
  if (!rule && isOwnSignIn(intent, serviceHost)) {
    return { effect: 'allow', by: 'steward', detail: 'Steward signs in to the service it is connected to.' }
  }
  return { effect: 'ask' }
}

/** Whether the intent calls a tool of another server, whose name comes first in the scope. */
function isServerToolCall({ kind, scope }: PolicyInput): boolean {
  return kind === 'tool.call' && scope !== null && parseServerName(scope.split(' ', 1)[0] ?? '') !== undefined
}

function describeRuleDetail(rule: PolicyRule): string {
  const word = rule.effect === 'deny' ? 'Denied' : 'Allowed'
  return `${word} by your rule “${describeRule(rule).replace(/[.]$/, '')}”.`
}

function isOwnSignIn({ kind, requester, host }: PolicyInput, serviceHost: string | undefined): boolean {
  return requester.kind === 'agent' && (kind === 'siwe' || kind === 'siws') && host !== null && host === serviceHost
}
