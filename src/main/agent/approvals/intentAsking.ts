import { AppError } from '../../../shared/appError.ts'
import type { Asker } from '../../../shared/contract/intents.ts'
import type { ApprovalGround } from './approvalGround.ts'
import type { Approvals } from './approvals.ts'
import { judged, newRecord } from './intentRecord.ts'

/** Neither decided nor signed. */
export const openIntentLimits = { all: 100, ofOneAsker: 20 } as const
/** The newest this many are kept. */
export const keptIntents = 2000

type Ground = Pick<
  ApprovalGround,
  | 'intents'
  | 'policies'
  | 'signer'
  | 'wallet'
  | 'expiry'
  | 'signing'
  | 'notes'
  | 'became'
  | 'verdictOn'
  | 'newId'
  | 'now'
  | 'at'
>

/** What is asked is judged at once: signed, denied, or kept for the person. */
export function intentAsking(ground: Ground): Pick<Approvals, 'ask'> {
  const { intents, policies, signer, wallet, expiry, signing, notes, became, verdictOn, newId, now, at } = ground

  const checkRoom = (asker: Asker): void => {
    const full = intents.countOpen() >= openIntentLimits.all
    if (!full && intents.countOpen(asker) < openIntentLimits.ofOneAsker) return
    const most = full ? `${openIntentLimits.all} requests wait` : `${openIntentLimits.ofOneAsker} of your requests wait`
    throw new AppError('intent/too-many', `${most} for a decision already.`, { retryAfterSeconds: 30 })
  }

  return {
    async ask({ intent, asker, reason }) {
      expiry.sweep()
      checkRoom(asker)
      const prepared = await signer.prepare(intent)
      const unlocked = wallet.isUnlocked()
      const record = intents.atomically(() => {
        const policy = policies.read()
        const fresh = newRecord({ id: `int_${newId()}`, prepared, asker, reason }, policy, now())
        const verdict = verdictOn(fresh, policy, unlocked)
        if (verdict.effect !== 'deny') checkRoom(asker)
        const decided = judged(fresh, verdict, { unlocked, at: at() })
        intents.add({ intent: prepared.intent, record: decided })
        intents.forgetOld(keptIntents)
        return decided
      })
      notes.asked(record)
      became(record)
      expiry.plan()
      return record.state === 'approved' ? signing.sign(record, prepared) : record
    },
  }
}
