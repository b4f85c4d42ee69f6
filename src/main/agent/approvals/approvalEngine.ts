import { AppError } from '../../../shared/appError.ts'
import type { LocalEvent } from '../../../shared/contract/localApi.ts'
import type { Log } from '../../platform/log.ts'
import type { Database } from '../../storage/openDatabase.ts'
import type { Note } from '../note.ts'
import type { Signer } from '../signer/signer.ts'
import type { WalletKeys } from '../wallet/walletKeys.ts'
import { accountRemoval } from './accountRemoval.ts'
import { noSuchIntent } from './approvalErrors.ts'
import { approvalNotes } from './approvalNotes.ts'
import type { Approvals } from './approvals.ts'
import { grantRepository } from './grantRepository.ts'
import { grantReservations } from './grantReservations.ts'
import { intentAsking } from './intentAsking.ts'
import { intentDeciding } from './intentDeciding.ts'
import { intentExpiry } from './intentExpiry.ts'
import { intentJudging } from './intentJudging.ts'
import { intentLifecycle } from './intentLifecycle.ts'
import { intentRepository, type StoredIntent } from './intentRepository.ts'
import { intentSigning } from './intentSigning.ts'
import { intentWaiting } from './intentWaiting.ts'
import { policyKeeping } from './policyKeeping.ts'
import { policyRepository } from './policyRepository.ts'
import type { Reservations } from './reservations.ts'

type Options = {
  database: Database
  signer: Signer
  /** Asked for its state outside of transactions only: it may lock itself by that, which is noted. */
  wallet: Pick<WalletKeys, 'isUnlocked' | 'accounts'>
  /** Calls `listener` when the wallet was locked or unlocked. @returns ends it */
  onWalletChange: (listener: () => void) => () => void
  /** Host and port of the service that the agent is connected to. */
  serviceHost: () => string | undefined
  publish: (event: LocalEvent) => void
  note: Note
  /** Twelve random bytes as hexadecimal. */
  newId: () => string
  now: () => number
  log: Log
  /** What an approval uses up; by itself that is grants alone. */
  reservations?: Reservations
}

/** The approvals of this agent, as its database knows them. */
export function approvalEngine(options: Options): Approvals {
  const { database, signer, wallet, serviceHost, publish, newId, now, log } = options
  const intents = intentRepository(database)
  const grants = grantRepository(database)
  const policies = policyRepository(database)
  const notes = approvalNotes(options.note)
  const { reservations = grantReservations({ grants, now }) } = options
  const lifecycle = intentLifecycle({ database, reservations })
  const expiry = intentExpiry({ lifecycle, intents, now })
  const expireDue = expiry.sweep
  const onGrantsChanged = () => publish({ type: 'grants.changed' })

  const leaveLifecycle = lifecycle.subscribe(({ record, before }) => {
    if (!before) notes.asked(record)
    notes.became(record)
    publish({ type: 'intent.changed', intent: record })
    // One is counted down, or up again.
    if ([record, before].some((it) => it?.decision?.by === 'grant')) onGrantsChanged()
  })
  const found = (id: string): StoredIntent => {
    expireDue()
    const stored = intents.find(id)
    if (!stored) throw noSuchIntent(id)
    return stored
  }
  const get: Approvals['get'] = (id) => found(id).record

  const judging = intentJudging({ lifecycle, grants, policies, serviceHost, now })
  const isStopped = () => policies.read().stopped
  const signing = intentSigning({ lifecycle, judging, signer, wallet, isStopped, expireDue, log })
  const waiting = intentWaiting({ lifecycle, get })
  const leaveWallet = options.onWalletChange(signing.resumeAll)
  signing.start()

  return {
    ...intentAsking({ lifecycle, intents, policies, judging, signing, signer, wallet, expireDue, newId, now }),
    ...intentDeciding({
      ...{ lifecycle, found, grants, policies, judging, signing, wallet, expireDue, notes, onGrantsChanged },
      newId,
      now,
    }),
    ...accountRemoval({ lifecycle, onGrantsChanged, now }),
    ...policyKeeping({
      lifecycle,
      policies,
      wallet,
      notes,
      onChanged: (policy) => publish({ type: 'policy.changed', policy }),
      now,
    }),
    settled: waiting.settled,
    get,
    list(filter) {
      expireDue()
      return { intents: intents.list(filter), waiting: intents.countWaiting() }
    },
    grants: () => grants.holding(now()),
    revokeGrant(id) {
      if (!grants.remove(id)) throw new AppError('grant/not-found', `There is no grant \`${id.slice(0, 64)}\`.`)
      notes.grantRevoked(id)
      onGrantsChanged()
    },
    close() {
      leaveWallet()
      signing.close()
      expiry.close()
      waiting.close()
      leaveLifecycle()
    },
  }
}
