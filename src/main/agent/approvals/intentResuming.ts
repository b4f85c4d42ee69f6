import { AppError } from '../../../shared/appError.ts'
import type { IntentRecord } from '../../../shared/contract/intents.ts'
import type { PreparedIntent } from '../signer/signer.ts'
import type { ApprovalGround } from './approvalGround.ts'
import type { IntentJudging } from './intentJudging.ts'
import type { StoredIntent } from './intentRepository.ts'

export type IntentResuming = {
  /** What an earlier run left behind. */
  start(): void
  /** The wallet may have been unlocked: what was allowed meanwhile is judged again, and signed. */
  resumeAll(): void
  /** Signs what was approved. Where the wallet locked itself and is unlocked again by now, it is resumed at once. */
  sign(record: IntentRecord, prepared: PreparedIntent): Promise<IntentRecord>
}

type Ground = Pick<
  ApprovalGround,
  'intents' | 'wallet' | 'expiry' | 'signing' | 'isClosed' | 'became' | 'unsigned' | 'prepareAgain' | 'log'
>

export function intentResuming(ground: Ground, judging: IntentJudging): IntentResuming {
  const { intents, wallet, expiry, signing, isClosed, became, unsigned, prepareAgain, log } = ground

  /** Allowed, and not signed yet. */
  const stillWaiting = (id: string): StoredIntent | undefined => {
    const stored = intents.find(id)
    return stored?.record.state === 'waiting' && stored.record.decision !== null ? stored : undefined
  }

  const resume = async (stored: StoredIntent): Promise<void> => {
    const { id } = stored.record
    const prepared = await prepareAgain(stored).catch((failure: unknown) => {
      const error = failure instanceof AppError ? failure.message : 'Something went wrong in Steward.'
      const present = isClosed() ? undefined : stillWaiting(id)
      const failed: IntentRecord | undefined = present && { ...present.record, state: 'failed', error }
      if (failed && intents.change(failed, 'waiting')) became(failed)
    })
    if (!prepared || isClosed() || !wallet.isUnlocked()) return
    expiry.sweep()
    const next = intents.atomically(() => {
      const present = stillWaiting(id)
      const { record, basis } = present ? judging.again(present) : {}
      return record && intents.change(record, 'waiting', basis) ? record : undefined
    })
    if (!next) return
    became(next)
    if (next.state === 'approved') await signing.sign(next, prepared)
  }

  const resumeAll = (): void => {
    if (isClosed() || !wallet.isUnlocked()) return
    expiry.sweep()
    for (const { id, decision } of intents.inState('waiting')) {
      const stored = decision ? stillWaiting(id) : undefined
      if (stored) resume(stored).catch((failure: unknown) => log.error('an intent was not resumed', { failure }))
    }
  }

  return {
    start() {
      intents.setAsideDamaged()
      for (const record of intents.inState('approved')) {
        const failed: IntentRecord = { ...record, state: 'failed', error: 'Steward ended before it was signed.' }
        if (unsigned(failed)) became(failed)
      }
      expiry.sweep()
      resumeAll()
    },
    resumeAll,
    async sign(record, prepared) {
      const after = await signing.sign(record, prepared)
      if (after.state === 'waiting') resumeAll()
      return after
    },
  }
}
