import { type Clock, createEvenClock } from '#platform/clock.ts'
import type { Log } from '#platform/log.ts'
import type { PrincipalId } from '#platform/principals.ts'
import { AppError } from '#shared/appError.ts'
import type { IntentRecord } from '#shared/contract/intents.ts'
import type { LocalEvent } from '#shared/contract/localApi.ts'
import type { Database } from '#storage/openDatabase.ts'
import { type AgentPrincipals, getPrincipalKind } from '../base/agentPrincipals.ts'
import type { MayNow } from '../base/judgement.ts'
import type { RecordActivity } from '../base/recordActivity.ts'
import type { Signer } from '../signer/signer.ts'
import type { WalletKeys } from '../wallet/walletKeys.ts'
import { createAccountRemoval } from './accountRemoval.ts'
import { createIntentNotFoundError } from './approvalErrors.ts'
import { createApprovalNotes } from './approvalNotes.ts'
import type { Approvals } from './approvals.ts'
import { createGrantRepository } from './grantRepository.ts'
import { grantReservations } from './grantReservations.ts'
import { listGrantTargets } from './grants.ts'
import { createIntentSubmission } from './intentAsking.ts'
import { createIntentDecisions } from './intentDeciding.ts'
import { createIntentExpiry } from './intentExpiry.ts'
import { createIntentJudging } from './intentJudging.ts'
import { createIntentLifecycle, type TimelineActor } from './intentLifecycle.ts'
import { createIntentRepository, type StoredIntent } from './intentRepository.ts'
import { createIntentReview } from './intentReview.ts'
import { createIntentSigning } from './intentSigning.ts'
import { createIntentWaiting } from './intentWaiting.ts'
import type { Verdict } from './judge.ts'
import { createPolicyKeeping } from './policyKeeping.ts'
import { createPolicyRepository } from './policyRepository.ts'
import { createPurchaseClosing } from './purchaseClosing.ts'
import { createRequesterLeases } from './requesterLeases.ts'
import type { Reservations } from './reservations.ts'

type Options = {
  database: Database
  signer: Signer
  /** Asked for its state outside of transactions only: it may lock itself by that, which is noted. */
  wallet: Pick<WalletKeys, 'isUnlocked' | 'accounts'>
  /** Calls `listener` when the wallet was locked or unlocked. @returns ends it */
  onWalletChange: (listener: () => void) => () => void
  principals: Pick<AgentPrincipals, 'lease'>
  /** Stop switch, rules and remembered approvals of this moment. */
  verdictOn: (record: IntentRecord) => Verdict
  mayNow: MayNow
  /** Asks the service what `mayNow` needs to know of a request; default: nothing. */
  refresh?: (record: IntentRecord) => Promise<void>
  publish: (event: LocalEvent) => void
  note: RecordActivity
  /** Twelve random bytes as hexadecimal. */
  newId: () => string
  now: () => number
  /** Default: time passes as `now` says. */
  clock?: Pick<Clock, 'latestMs' | 'check' | 'onJump'>
  log: Log
  /** Checks right before a signature what may have changed since the request. @throws AppError: nothing is signed */
  beforeSigning?: (record: IntentRecord) => Promise<void>
  /** Reservations that an approval consumes besides grants. */
  reservations?: Reservations
}

/** The approvals of this agent, as its database knows them. */
export function createApprovalEngine(options: Options): Approvals {
  const { database, signer, wallet, principals, verdictOn, mayNow, publish, newId, now, log } = options
  const { clock = createEvenClock(now) } = options
  const intents = createIntentRepository(database)
  const stored = createGrantRepository(database)
  /** A clock that is set back revives none. */
  const grants = { ...stored, holding: () => stored.holding(clock.latestMs()) }
  const policies = createPolicyRepository(database)
  const notes = createApprovalNotes(options.note)
  const { reservations = grantReservations({ grants, now }) } = options
  const lifecycle = createIntentLifecycle({ database, reservations })
  const expiry = createIntentExpiry({ lifecycle, intents, now, clock })
  const expireDue = expiry.sweep
  const onGrantsChanged = () => publish({ type: 'grants.changed' })

  const leaveLifecycle = lifecycle.subscribe(({ record, before, actor }) => {
    if (!before) notes.recordSubmitted(record)
    notes.became(record, actor)
    publish({ type: 'intent.changed', intent: reviewing.toWire(record) })
    // One is counted down, or up again.
    if ([record, before].some((it) => it?.decision?.by === 'grant')) onGrantsChanged()
  })
  const requireIntent = (id: string): StoredIntent => {
    expireDue()
    const stored = intents.find(id)
    if (!stored) throw createIntentNotFoundError(id)
    return stored
  }
  const get: Approvals['get'] = (id) => reviewing.toWire(requireIntent(id).record)

  const judging = createIntentJudging({ lifecycle, policies, verdictOn, mayNow, now })
  const reviewing = createIntentReview({
    ...{ lifecycle, mayNow, refuse: judging.refuse },
    publish: (intent) => publish({ type: 'intent.changed', intent }),
  })
  const leases = createRequesterLeases({
    ...{ principals, lifecycle, grants, now },
    endRequest: (id, principal, { message: error }) =>
      void lifecycle.apply(id, 'revoke', { decision: null, error, actor: endingActor(principal) }),
    endGrant(grant, principal) {
      leases.removeGrant(grant.id)
      if (!grants.remove(grant.id)) return // deleted with its account
      notes.grantEnded(grant, endingActor(principal))
      onGrantsChanged()
    },
  })
  const isStopped = () => policies.read().stopped
  const { beforeSigning = async () => {} } = options
  const signing = createIntentSigning({
    ...{ lifecycle, judging, mayNow, signer, wallet, isStopped, beforeSigning, expireDue, log },
  })
  const waiting = createIntentWaiting({ lifecycle, get })
  const leaveWallet = options.onWalletChange(signing.resumeAll)
  leases.start()
  signing.start()

  return {
    ...createIntentSubmission({
      lifecycle,
      intents,
      policies,
      judging,
      mayNow,
      signing,
      signer,
      wallet,
      expireDue,
      newId,
      now,
    }),
    ...createIntentDecisions({
      ...{ lifecycle, requireIntent, grants, policies, mayNow, signing, wallet, expireDue, notes, onGrantsChanged },
      refresh: options.refresh ?? (async () => {}),
      review: reviewing.review,
      onGrantAdded: leases.addGrant,
      newId,
      now,
    }),
    ...createAccountRemoval({ lifecycle, onGrantsChanged, now }),
    ...createPurchaseClosing({ lifecycle, now }),
    ...createPolicyKeeping({
      lifecycle,
      policies,
      wallet,
      review: reviewing.review,
      notes,
      onChanged: (policy) => publish({ type: 'policy.changed', policy }),
      now,
    }),
    renameRequester: lifecycle.renameRequester,
    waitUntilSettled: waiting.waitUntilSettled,
    get,
    list(filter) {
      expireDue()
      reviewing.review()
      return { intents: intents.list(filter).map(reviewing.toWire), waiting: intents.countWaiting() }
    },
    grants: () => grants.holding(),
    revokeGrant(id) {
      if (!grants.remove(id)) throw new AppError('grant/not-found', `There is no grant \`${id.slice(0, 64)}\`.`)
      leases.removeGrant(id)
      notes.grantRevoked(id)
      onGrantsChanged()
    },
    grantTargets: () => grants.holding().flatMap(listGrantTargets),
    endGrantsFor(target) {
      for (const grant of grants.holding()) {
        if (!listGrantTargets(grant).includes(target) || !grants.remove(grant.id)) continue
        leases.removeGrant(grant.id)
        notes.grantEnded(grant, { kind: 'system', name: 'Steward' })
        onGrantsChanged()
      }
    },
    review: reviewing.review,
    close() {
      leases.close()
      leaveWallet()
      signing.close()
      expiry.close()
      waiting.close()
      leaveLifecycle()
    },
  }
}

/**
 * Returns the actor of a principal's end. Tool clients, chats and accounts end only by the user in this window; ends of
 * keys and sign-ins come from the service, whose entry names the revoker.
 */
function endingActor(principal: PrincipalId): TimelineActor {
  const kind = getPrincipalKind(principal)
  return kind === 'tool' || kind === 'chat' || kind === 'wallet'
    ? { kind: 'person', name: 'You' }
    : { kind: 'system', name: 'Steward' }
}
