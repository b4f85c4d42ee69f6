import { AppError } from '../../../shared/appError.ts'
import type { Asker } from '../../../shared/contract/intents.ts'
import type { ApprovalGround } from './approvalGround.ts'
import type { Approvals } from './approvals.ts'
import type { IntentJudging } from './intentJudging.ts'
import { newRecord } from './intentRecord.ts'
import type { KeptIntents } from './intentRepository.ts'
import type { IntentResuming } from './intentResuming.ts'

/** Neither decided nor signed. */
export const openIntentLimits = { all: 100, ofOneAsker: 20 } as const
/** The newest this many of what is decided. */
export const keptIntents: KeptIntents = { ofPerson: 2000, ofOneAsker: 500, ofAllAskers: 5000 }

type Ground = Pick<
  ApprovalGround,
  'intents' | 'policies' | 'signer' | 'wallet' | 'expiry' | 'notes' | 'became' | 'newId' | 'now'
>

type Steps = { judging: IntentJudging; sign: IntentResuming['sign'] }

/** What is asked is judged at once: signed, denied, or kept for the person. */
export function intentAsking(ground: Ground, { judging, sign }: Steps): Pick<Approvals, 'ask'> {
  const { intents, policies, signer, wallet, expiry, notes, became, newId, now } = ground

  const checkRoom = (asker: Asker): void => {
    const full = intents.countOpen() >= openIntentLimits.all
    if (!full && intents.countOpen(asker) < openIntentLimits.ofOneAsker) return
    const most = full ? `${openIntentLimits.all} requests wait` : `${openIntentLimits.ofOneAsker} of your requests wait`
    throw new AppError('intent/too-many', `${most} for a decision already.`, { retryAfterSeconds: 30 })
  }

  return {
    async ask({ intent, asker, reason, alongside }) {
      expiry.sweep()
      checkRoom(asker)
      const prepared = await signer.prepare(intent)
      const unlocked = wallet.isUnlocked()
      const record = intents.atomically(() => {
        const fresh = newRecord({ id: `int_${newId()}`, prepared, asker, reason }, policies.read(), now())
        const judged = judging.first(fresh, unlocked)
        if (judged.record.state !== 'denied') checkRoom(asker)
        intents.add({ intent: prepared.intent, ...judged })
        alongside?.(judged.record)
        intents.forgetOld(asker, keptIntents)
        return judged.record
      })
      notes.asked(record)
      became(record)
      return record.state === 'approved' ? sign(record, prepared) : record
    },
  }
}
