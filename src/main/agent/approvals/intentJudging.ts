import type { IntentRecord } from '../../../shared/contract/intents.ts'
import type { ApprovalGround } from './approvalGround.ts'
import { judged } from './intentRecord.ts'
import { type IntentBasis, noBasis, type StoredIntent } from './intentRepository.ts'
import { amountOf, isAbove, type Verdict } from './judge.ts'

/** Both work inside a transaction: a grant that allows what is signed at once is counted down there. */
export type IntentJudging = {
  /** What was asked just now. */
  first(record: IntentRecord, unlocked: boolean): Judgement
  /** What was approved, and waited for the wallet: policy may be another by now. */
  again(stored: StoredIntent): Judgement
}
export type Judgement = { record: IntentRecord; basis: IntentBasis }

type Ground = Pick<ApprovalGround, 'grants' | 'policies' | 'verdictOn' | 'now' | 'at'>

export function intentJudging({ grants, policies, verdictOn, now, at }: Ground): IntentJudging {
  const allowedOrNot = (record: IntentRecord, unlocked: boolean): Judgement => {
    const verdict = counted(verdictOn(record), unlocked)
    const next = judged(record, verdict, { unlocked, at: at() })
    const grantId = next.state === 'approved' && verdict.effect === 'allow' ? (verdict.grantId ?? null) : null
    return { record: next, basis: { grantId, confirmed: false } }
  }
  const counted = (verdict: Verdict, unlocked: boolean): Verdict => {
    if (verdict.effect !== 'allow' || verdict.grantId === undefined || !unlocked) return verdict
    return grants.use(verdict.grantId, now()) ? verdict : { effect: 'ask' }
  }

  return {
    first: allowedOrNot,
    again({ record: present, basis }) {
      const above = isAbove(amountOf(present), policies.read().confirm_above_micro_usd)
      const record = { ...present, needs_confirmation: present.needs_confirmation || above }
      if (record.decision?.by !== 'person') return allowedOrNot(record, true)
      // What the person approved holds, unless it is denied by now, or would take more than they gave.
      const verdict = verdictOn(record)
      if (verdict.effect === 'deny') return { record: judged(record, verdict, { unlocked: true, at: at() }), basis }
      if (record.needs_confirmation && !basis.confirmed)
        return { record: { ...record, decision: null }, basis: noBasis }
      return { record: { ...record, state: 'approved' }, basis }
    },
  }
}
