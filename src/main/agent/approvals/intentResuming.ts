import { AppError } from '../../../shared/appError.ts'
import type { IntentRecord } from '../../../shared/contract/intents.ts'
import type { ApprovalGround } from './approvalGround.ts'
import { judged } from './intentRecord.ts'
import type { StoredIntent } from './intentRepository.ts'

export type IntentResuming = {
  /** What an earlier run left behind. */
  start(): void
  /** The wallet may have been unlocked: what was allowed meanwhile is judged again, and signed. */
  resumeAll(): void
}

type Ground = Pick<
  ApprovalGround,
  | 'intents'
  | 'policies'
  | 'wallet'
  | 'expiry'
  | 'signing'
  | 'isClosed'
  | 'became'
  | 'prepareAgain'
  | 'verdictOn'
  | 'at'
  | 'log'
>

export function intentResuming(ground: Ground): IntentResuming {
  const { intents, policies, wallet, expiry, signing, isClosed, became, prepareAgain, verdictOn, at, log } = ground

  const resume = async (stored: StoredIntent): Promise<void> => {
    const { record } = stored
    const prepared = await prepareAgain(stored).catch((failure: unknown) => {
      const error = failure instanceof AppError ? failure.message : 'Something went wrong in Steward.'
      const failed: IntentRecord = { ...record, state: 'failed', error }
      if (!isClosed() && intents.change(failed, 'waiting')) became(failed)
    })
    if (!prepared || isClosed() || !wallet.isUnlocked()) return
    const next = intents.atomically(() => {
      const present = intents.find(record.id)?.record
      if (present?.state !== 'waiting' || present.decision === null) return undefined
      const after: IntentRecord =
        present.decision.by === 'person'
          ? { ...present, state: 'approved' }
          : judged(present, verdictOn(present, policies.read(), true), { unlocked: true, at: at() })
      return intents.change(after, 'waiting') ? after : undefined
    })
    if (!next) return
    became(next)
    if (next.state === 'approved') await signing.sign(next, prepared)
  }

  const resumeAll = (): void => {
    if (isClosed() || !wallet.isUnlocked()) return
    expiry.sweep()
    for (const { id, decision } of intents.inState('waiting')) {
      const stored = decision ? intents.find(id) : undefined
      if (stored) resume(stored).catch((failure: unknown) => log.error('an intent was not resumed', { failure }))
    }
  }

  return {
    start() {
      intents.setAsideDamaged()
      for (const record of intents.inState('approved')) {
        const failed: IntentRecord = { ...record, state: 'failed', error: 'Steward ended before it was signed.' }
        if (intents.change(failed, 'approved')) became(failed)
      }
      expiry.sweep()
      resumeAll()
    },
    resumeAll,
  }
}
