import { AppError } from '../../../shared/appError.ts'
import type { IntentRecord } from '../../../shared/contract/intents.ts'
import type { LocalEvent } from '../../../shared/contract/localApi.ts'
import { isoTime } from '../../../shared/time.ts'
import type { Log } from '../../platform/log.ts'
import type { Note } from '../note.ts'
import type { PreparedIntent, Signer } from '../signer/signer.ts'
import type { WalletKeys } from '../wallet/walletKeys.ts'
import { noSuchIntent } from './approvalErrors.ts'
import { approvalNotes } from './approvalNotes.ts'
import type { GrantRepository } from './grantRepository.ts'
import { intentExpiry } from './intentExpiry.ts'
import { isSame, judgedOf } from './intentRecord.ts'
import { type IntentRepository, noBasis, type StoredIntent } from './intentRepository.ts'
import { intentSigning } from './intentSigning.ts'
import { intentWatchers } from './intentWatchers.ts'
import { judge, type Verdict } from './judge.ts'
import type { PolicyRepository } from './policyRepository.ts'

export type ApprovalOptions = {
  intents: IntentRepository
  grants: GrantRepository
  policies: PolicyRepository
  signer: Signer
  /** Asked for its state outside of transactions only: it may lock itself by that, which is noted. */
  wallet: Pick<WalletKeys, 'isUnlocked' | 'accounts'>
  /** Calls `listener` when the wallet was locked or unlocked. @returns what ends it */
  onWalletChange: (listener: () => void) => () => void
  /** Host and port of the service that the agent is connected to. */
  serviceHost: () => string | undefined
  publish: (event: LocalEvent) => void
  note: Note
  /** Twelve random bytes as hexadecimal. */
  newId: () => string
  now: () => number
  log: Log
}

/** What asking, deciding, resuming and the policy have in common. */
export type ApprovalGround = ReturnType<typeof approvalGround>

export function approvalGround(options: ApprovalOptions) {
  const { intents, grants, policies, signer, serviceHost, publish, now, log } = options
  const notes = approvalNotes(options.note)
  const watchers = intentWatchers()
  let closed = false

  const isClosed = (): boolean => closed
  /** The record is kept so by now. */
  const became = (record: IntentRecord): void => {
    if (record.state === 'waiting') expiry.plan()
    notes.became(record)
    publish({ type: 'intent.changed', intent: record })
    if (record.decision?.by === 'grant') publish({ type: 'grants.changed' }) // counted down, or up again
    watchers.tell(record.id)
  }
  /** It is not being signed any more, and was not signed: what was counted down for it comes back. */
  const unsigned = (record: IntentRecord): boolean =>
    intents.atomically(() => {
      const { grantId, confirmed } = intents.find(record.id)?.basis ?? noBasis
      if (!intents.change(record, 'approved', { grantId: null, confirmed })) return false
      if (grantId !== null) grants.giveBack(grantId)
      return true
    })
  const isStopped = () => policies.read().stopped
  const signing = intentSigning({ intents, signer, isStopped, isClosed, unsigned, became, log })
  const expiry = intentExpiry({ intents, now, became })

  return {
    ...options,
    notes,
    watchers,
    signing,
    expiry,
    isClosed,
    became,
    unsigned,
    at: (): string => isoTime(now()),
    /** @throws AppError `intent/not-found` */
    found(id: string): StoredIntent {
      if (!closed) expiry.sweep()
      const stored = intents.find(id)
      if (!stored) throw noSuchIntent(id)
      return stored
    },
    verdictOn(record: IntentRecord): Verdict {
      return judge(judgedOf(record), {
        policy: policies.read(),
        grants: grants.holding(now()),
        serviceHost: serviceHost(),
      })
    },
    /** What would be signed now. @throws AppError `intent/invalid` when it is not what was shown */
    async prepareAgain({ intent, record }: StoredIntent): Promise<PreparedIntent> {
      const prepared = await signer.prepare(intent)
      if (isSame(record, prepared)) return prepared
      throw new AppError('intent/invalid', 'What would be signed is not what was asked any more.')
    },
    close(): void {
      closed = true
      expiry.close()
      watchers.close()
    },
  }
}
