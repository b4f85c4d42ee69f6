import type { Log } from '#platform/logging/log.ts'
import { type Clock, createTrustedClock } from '#platform/time/clock.ts'
import type { IntentRecord } from '#shared/contract/intents.ts'
import type { LocalEvent } from '#shared/contract/localApi.ts'
import type { Database } from '#storage/sqlite/openDatabase.ts'
import type { AgentPrincipals } from '../base/agentPrincipals.ts'
import type { EvaluateAction } from '../base/evaluateAction.ts'
import type { RecordActivity } from '../base/recordActivity.ts'
import type { Signer } from '../signer/signer.ts'
import type { WalletKeys } from '../wallet/walletKeys.ts'
import { createAccountRemoval } from './accountRemoval.ts'
import { createApprovalActivity } from './approvalActivity.ts'
import { createMissingIntentError } from './approvalErrors.ts'
import type { Approvals } from './approvals.ts'
import type { PolicyEvaluation } from './evaluateIntent.ts'
import { createGrantRepository } from './grantRepository.ts'
import { createGrantReservations } from './grantReservations.ts'
import { listGrantTargets } from './grants.ts'
import { createIntentDecisions } from './intentDecisions.ts'
import { createIntentEvaluation } from './intentEvaluation.ts'
import { createIntentExpiry } from './intentExpiry.ts'
import { createIntentLifecycle } from './intentLifecycle.ts'
import { createIntentRepository, type IntentRepository, type StoredIntent } from './intentRepository.ts'
import { createIntentReview, type IntentReview } from './intentReview.ts'
import { createIntentSigning } from './intentSigning.ts'
import { createIntentSubmission } from './intentSubmission.ts'
import { createIntentWaiting } from './intentWaiting.ts'
import { createLeasedGrants } from './leasedGrants.ts'
import { createPolicyRepository } from './policyRepository.ts'
import { createPolicyStore } from './policyStore.ts'
import { createPurchaseClosing } from './purchaseClosing.ts'
import type { Reservations } from './reservations.ts'

type Options = {
  database: Database
  signer: Signer
  /** Read the state outside transactions only: a read may lock the wallet, and the lock is recorded. */
  wallet: Pick<WalletKeys, 'isUnlocked' | 'accounts'>
  /** Calls `listener` when the wallet is locked or unlocked. @returns the unsubscribe function */
  onWalletChange: (listener: () => void) => () => void
  principals: Pick<AgentPrincipals, 'lease'>
  /** Evaluates the current stop switch, rules and remembered approvals. */
  verdictOn: (record: IntentRecord) => PolicyEvaluation
  mayNow: EvaluateAction
  /** Loads data from the service that `mayNow` requires for a request. Defaults to none. */
  refresh?: (record: IntentRecord) => Promise<void>
  publish: (event: LocalEvent) => void
  recordActivity: RecordActivity
  /** Twelve random bytes as hexadecimal. */
  newId: () => string
  now: () => number
  /** Defaults to a clock that follows `now`. */
  clock?: Pick<Clock, 'latestMs' | 'check' | 'onJump'>
  log: Log
  /**
   * Checks immediately before signing whether conditions have changed since the request.
   * @throws AppError if the intent must not be signed
   */
  beforeSigning?: (record: IntentRecord) => Promise<void>
  /** Reservations that an approval consumes besides grants. */
  reservations?: Reservations
}

/** Creates the approvals of this agent from its database. */
export function createApprovalEngine(options: Options): Approvals {
  const { database, signer, wallet, principals, verdictOn, mayNow, publish, newId, now, log } = options
  const { clock = createTrustedClock(now) } = options
  const intents = createIntentRepository(database)
  const stored = createGrantRepository(database)
  /** Setting the clock back does not revive expired grants. */
  const grants = { ...stored, holding: () => stored.holding(clock.latestMs()) }
  const policies = createPolicyRepository(database)
  const activity = createApprovalActivity(options.recordActivity)
  const { reservations = createGrantReservations({ grants, now }) } = options
  const lifecycle = createIntentLifecycle({ database, reservations })
  const expiry = createIntentExpiry({ lifecycle, intents, now, clock })
  const expireDue = expiry.sweep
  const onGrantsChanged = () => publish({ type: 'grants.changed' })

  const unsubscribeFromLifecycle = lifecycle.subscribe(({ record, before, actor }) => {
    if (!before) activity.recordSubmitted(record)
    activity.became(record, actor)
    publish({ type: 'intent.changed', intent: reviewing.toWire(record) })
    // The remaining uses of a grant changed.
    if ([record, before].some((it) => it?.decision?.by === 'grant')) onGrantsChanged()
  })

  const evaluation = createIntentEvaluation({ lifecycle, policies, verdictOn, mayNow, now })
  const reviewing = createIntentReview({
    ...{ lifecycle, mayNow, refuse: evaluation.refuse },
    publish: (intent) => publish({ type: 'intent.changed', intent }),
  })
  const { requireIntent, get, list } = createIntentReading({ intents, reviewing, expireDue })
  const leased = createLeasedGrants({ grants, lifecycle, principals, activity, onChanged: onGrantsChanged, now })
  const isStopped = () => policies.read().stopped
  const { beforeSigning = async () => {} } = options
  const signing = createIntentSigning({
    ...{ lifecycle, evaluation, mayNow, signer, wallet, isStopped, beforeSigning, expireDue, log },
  })
  const waiting = createIntentWaiting({ lifecycle, get })
  const unsubscribeFromWallet = options.onWalletChange(signing.resumeAll)
  leased.start()
  signing.start()

  return {
    ...createIntentSubmission({
      lifecycle,
      intents,
      policies,
      evaluation,
      mayNow,
      signing,
      signer,
      wallet,
      expireDue,
      newId,
      now,
    }),
    ...createIntentDecisions({
      ...{ lifecycle, requireIntent, grants, policies, mayNow, signing, wallet, expireDue, activity, onGrantsChanged },
      refresh: options.refresh ?? (async () => {}),
      review: reviewing.review,
      onGrantAdded: leased.add,
      newId,
      now,
    }),
    ...createAccountRemoval({ lifecycle, onGrantsChanged, now }),
    ...createPurchaseClosing({ lifecycle, now }),
    ...createPolicyStore({
      lifecycle,
      policies,
      wallet,
      review: reviewing.review,
      activity,
      onChanged: (policy) => publish({ type: 'policy.changed', policy }),
      now,
    }),
    renameRequester: lifecycle.renameRequester,
    waitUntilSettled: waiting.waitUntilSettled,
    get,
    list,
    grants: () => grants.holding(),
    revokeGrant: leased.revoke,
    grantTargets: () => grants.holding().flatMap(listGrantTargets),
    endGrantsFor: leased.endFor,
    review: reviewing.review,
    close() {
      leased.close()
      unsubscribeFromWallet()
      signing.close()
      expiry.close()
      waiting.close()
      unsubscribeFromLifecycle()
    },
  }
}

type ReadingOptions = { intents: IntentRepository; reviewing: IntentReview; expireDue: () => void }

/** Creates read access to intents. Expires overdue intents before each read. */
function createIntentReading({ intents, reviewing, expireDue }: ReadingOptions) {
  const requireIntent = (id: string): StoredIntent => {
    expireDue()
    const stored = intents.find(id)
    if (!stored) throw createMissingIntentError(id)
    return stored
  }
  const get: Approvals['get'] = (id) => reviewing.toWire(requireIntent(id).record)
  const list: Approvals['list'] = (filter) => {
    expireDue()
    reviewing.review()
    return { intents: intents.list(filter).map(reviewing.toWire), waiting: intents.countWaiting() }
  }
  return { requireIntent, get, list }
}
