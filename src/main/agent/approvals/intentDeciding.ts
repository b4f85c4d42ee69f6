import { AppError } from '../../../shared/appError.ts'
import type { IntentRecord } from '../../../shared/contract/intents.ts'
import { decidedAlready, noSuchIntent, walletLocked } from './approvalErrors.ts'
import type { ApprovalGround } from './approvalGround.ts'
import type { Approvals, Decision } from './approvals.ts'
import type { IntentResuming } from './intentResuming.ts'
import { amountOf, isAbove } from './judge.ts'
import { newGrant } from './newGrant.ts'

type Ground = Pick<
  ApprovalGround,
  | 'intents'
  | 'grants'
  | 'policies'
  | 'wallet'
  | 'expiry'
  | 'notes'
  | 'became'
  | 'found'
  | 'prepareAgain'
  | 'verdictOn'
  | 'publish'
  | 'newId'
  | 'now'
  | 'at'
>

/** The person decides; who asked may take it back. Of several at once the first one counts. */
export function intentDeciding(ground: Ground, sign: IntentResuming['sign']): Pick<Approvals, 'decide' | 'cancel'> {
  const { intents, grants, policies, wallet, expiry, notes, became, found, prepareAgain, publish } = ground
  const { verdictOn, newId, now, at } = ground

  const deny = (record: IntentRecord): IntentRecord => {
    const decision = { by: 'person', detail: 'You denied it.', at: at() } as const
    const denied: IntentRecord = { ...record, state: 'denied', decision, error: 'The person denied it.' }
    if (!intents.change(denied, 'waiting')) throw decidedAlready(found(record.id).record)
    became(denied)
    return denied
  }

  const checkMayApprove = (
    record: IntentRecord,
    { confirmed, grant, unlocked }: Decision & { unlocked: boolean },
  ): void => {
    if (record.state !== 'waiting') throw decidedAlready(record)
    const policy = policies.read()
    if (policy.stopped) throw new AppError('intent/stopped', 'Signing is stopped.')
    // A rule that came meanwhile: who wants it signed all the same changes the rule first.
    const verdict = verdictOn(record)
    if (verdict.effect === 'deny') throw new AppError('intent/denied', verdict.detail)
    if (!unlocked) throw walletLocked(wallet)
    const above = record.needs_confirmation || isAbove(amountOf(record), policy.confirm_above_micro_usd)
    if (above && grant) {
      throw new AppError('intent/invalid', 'What is above the threshold is approved one at a time.')
    }
    if (above && !confirmed) {
      throw new AppError(
        'intent/confirmation',
        'It is above the threshold, and was not confirmed outside of the window.',
      )
    }
  }

  return {
    async decide(id, decision) {
      const stored = found(id)
      if (stored.record.state !== 'waiting') throw decidedAlready(stored.record)
      if (!decision.approve) return deny(stored.record)
      checkMayApprove(stored.record, { ...decision, unlocked: wallet.isUnlocked() })
      const grant = decision.grant && newGrant(stored.record, decision.grant, { id: `grant_${newId()}`, nowMs: now() })
      const prepared = await prepareAgain(stored)
      expiry.sweep()
      const unlocked = wallet.isUnlocked()
      const approved = intents.atomically(() => {
        const present = intents.find(id)?.record ?? stored.record
        checkMayApprove(present, { ...decision, unlocked })
        const detail = grant ? 'You approved it, and more of it in advance.' : 'You approved it.'
        const next: IntentRecord = { ...present, state: 'approved', decision: { by: 'person', detail, at: at() } }
        const basis = { grantId: null, confirmed: decision.confirmed }
        if (!intents.change(next, 'waiting', basis)) throw decidedAlready(present)
        if (grant) grants.add(grant)
        return next
      })
      became(approved)
      if (grant) {
        notes.grantAdded(grant, id)
        publish({ type: 'grants.changed' })
      }
      return sign(approved, prepared)
    },
    cancel(id, asker) {
      const { record } = found(id)
      if (record.asker.kind !== asker.kind || record.asker.id !== asker.id) throw noSuchIntent(id)
      const gone: IntentRecord = { ...record, state: 'denied', decision: null, error: 'Who asked took it back.' }
      if (!intents.change(gone, 'waiting')) throw decidedAlready(record)
      became(gone)
      return gone
    },
  }
}
