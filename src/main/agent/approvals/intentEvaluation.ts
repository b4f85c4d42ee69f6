import type { IntentRecord } from '#shared/contract/intents.ts'
import { toIsoTime } from '#shared/time.ts'
import { type EvaluateAction, isFinal, type Refusal } from '../base/evaluateAction.ts'
import type { PolicyEvaluation } from './evaluateIntent.ts'
import type { IntentChange, IntentLifecycle } from './intentLifecycle.ts'
import type { StoredIntent } from './intentRepository.ts'
import type { PolicyRepository } from './policyRepository.ts'
import { isAbove, readAmount } from './toPolicyInput.ts'

/** Evaluates intents by the current policy and grants. Call `settle…` within a transaction. */
export type IntentEvaluation = {
  verdictOn(record: IntentRecord): PolicyEvaluation
  /** Ends a waiting request after a final refusal. @returns undefined if the request is no longer waiting */
  refuse(id: string, refusal: Refusal): IntentRecord | undefined
  /** Settles a new intent according to its verdict. */
  settleFirst(record: IntentRecord, verdict: PolicyEvaluation, options: { unlocked: boolean }): IntentRecord
  /** Settles an allowed intent that waited for the wallet, according to the current policy. */
  reapplyPolicy(stored: StoredIntent): IntentRecord | undefined
}

type Decision = NonNullable<IntentRecord['decision']>
type Decided = Pick<Decision, 'by' | 'detail'>
type Options = {
  lifecycle: Pick<IntentLifecycle, 'apply' | 'approve'>
  policies: Pick<PolicyRepository, 'read'>
  verdictOn: (record: IntentRecord) => PolicyEvaluation
  mayNow: EvaluateAction
  now: () => number
}

export function createIntentEvaluation({ lifecycle, policies, verdictOn, mayNow, now }: Options): IntentEvaluation {
  const toDecision = ({ by, detail }: Decided): Decision => ({ by, detail, at: toIsoTime(now()) })
  const deny = (id: string, decided: Decided, change: IntentChange): IntentRecord | undefined =>
    lifecycle.apply(id, 'deny', { ...change, decision: toDecision(decided), error: decided.detail })
  const evaluateAgain = (id: string, change: IntentChange): IntentRecord | undefined =>
    lifecycle.apply(id, 'reconsider', { ...change, decision: null, confirmed: false })

  /** Approves an intent. If the reservation fails, the intent is denied or the user is asked again. */
  const approve = (id: string, decision: Decision, change: IntentChange): IntentRecord | undefined => {
    const approval = lifecycle.approve(id, { ...change, decision })
    if (!approval || 'record' in approval) return approval?.record
    const { effect, detail } = approval.refusal
    return effect === 'deny' ? deny(id, { by: 'policy', detail }, change) : evaluateAgain(id, change)
  }

  const refuse: IntentEvaluation['refuse'] = (id, { by, error: { message } }) => {
    if (by === 'expiry') return lifecycle.apply(id, 'expire', { error: message })
    if (by === 'requester') return lifecycle.apply(id, 'revoke', { decision: null, error: message })
    const decider = by === 'stop' || by === 'policy' ? by : 'steward'
    return deny(id, { by: decider, detail: message }, {})
  }

  return {
    verdictOn,
    refuse,
    settleFirst(record, verdict, { unlocked }) {
      const { id } = record
      if (verdict.effect === 'ask') return record
      if (verdict.effect === 'deny') return deny(id, verdict, {}) ?? record
      if (unlocked) return approve(id, toDecision(verdict), {}) ?? record
      const detail = `${verdict.detail} Unlock the wallet to sign it.`
      return lifecycle.apply(id, 'defer', { decision: toDecision({ ...verdict, detail }) }) ?? record
    },
    reapplyPolicy({ record, confirmed }) {
      const { id, decision } = record
      const above = isAbove(readAmount(record), policies.read().confirm_above_micro_usd)
      const change = { needs_confirmation: record.needs_confirmation || above }
      const refusal = mayNow({ request: record })
      if (refusal) return isFinal(refusal) ? refuse(id, refusal) : evaluateAgain(id, change)
      const verdict = verdictOn(record)
      // A user's approval remains valid unless the intent now needs a confirmation that was not made.
      const holds = decision?.by === 'person' && (confirmed || !change.needs_confirmation)
      if (holds) return approve(id, decision, change)
      const allowed = decision?.by !== 'person' && verdict.effect === 'allow'
      return allowed ? approve(id, toDecision(verdict), change) : evaluateAgain(id, change)
    },
  }
}
