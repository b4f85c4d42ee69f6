import { AppError } from '#shared/appError.ts'
import type { Grant, IntentRecord } from '#shared/contract/intents.ts'
import { toIsoTime } from '#shared/time.ts'
import type { EvaluateAction, Refusal } from '../base/evaluateAction.ts'
import type { WalletKeys } from '../wallet/walletKeys.ts'
import type { ApprovalActivity } from './approvalActivity.ts'
import { createAlreadyDecidedError, createMissingIntentError, createWalletLockedError } from './approvalErrors.ts'
import type { Approvals, Decision } from './approvals.ts'
import type { GrantRepository } from './grantRepository.ts'
import { createGrant } from './grants.ts'
import type { IntentLifecycle } from './intentLifecycle.ts'
import type { StoredIntent } from './intentRepository.ts'
import type { IntentSigning } from './intentSigning.ts'
import type { PolicyRepository } from './policyRepository.ts'
import { isAbove, isWalletRequired, readAmount } from './toPolicyInput.ts'

type Options = {
  lifecycle: IntentLifecycle
  /** @throws AppError `intent/not-found` */
  requireIntent: (id: string) => StoredIntent
  grants: Pick<GrantRepository, 'add'>
  policies: Pick<PolicyRepository, 'read'>
  mayNow: EvaluateAction
  /** Loads data from the service that `mayNow` requires for a request. */
  refresh: (record: IntentRecord) => Promise<void>
  /** Ends requests that became impossible. */
  review: () => void
  signing: Pick<IntentSigning, 'prepareAgain' | 'sign'>
  wallet: Pick<WalletKeys, 'isUnlocked' | 'accounts'>
  expireDue: () => void
  activity: Pick<ApprovalActivity, 'grantAdded'>
  onGrantAdded: (grant: Grant) => void
  onGrantsChanged: () => void
  newId: () => string
  now: () => number
}

/**
 * Handles decisions on intents. The user decides and the requester may cancel. The first of several concurrent
 * decisions wins.
 */
export function createIntentDecisions(options: Options): Pick<Approvals, 'decide' | 'cancel'> {
  const {
    lifecycle,
    requireIntent,
    grants,
    policies,
    mayNow,
    refresh,
    review,
    signing,
    wallet,
    expireDue,
    newId,
    now,
  } = options
  const byPerson = (detail: string) => ({ by: 'person', detail, at: toIsoTime(now()) }) as const

  const isReady = ({ kind }: IntentRecord): boolean => !isWalletRequired(kind) || wallet.isUnlocked()

  const checkMayApprove = (
    record: IntentRecord,
    { confirmed, grant, unlocked }: Decision & { unlocked: boolean },
  ): void => {
    if (record.state !== 'waiting') throw createAlreadyDecidedError(record)
    const policy = policies.read()
    // Rules that became stricter since the request take precedence. To sign anyway, the user must change them first.
    const refusal = mayNow({ request: record })
    if (refusal) throw toRefusalError(refusal)
    if (!unlocked) throw createWalletLockedError(wallet)
    const above = record.needs_confirmation || isAbove(readAmount(record), policy.confirm_above_micro_usd)
    if (above && grant) {
      throw new AppError('intent/invalid', 'Requests above your threshold are approved one at a time.')
    }
    if (above && !confirmed) {
      throw new AppError('intent/confirmation', 'This is above your threshold and needs an extra confirmation.')
    }
  }

  const deny = (id: string): IntentRecord => {
    const decision = byPerson('You denied it.')
    const denied = lifecycle.apply(id, 'deny', { decision, error: 'You denied it.' })
    if (!denied) throw createAlreadyDecidedError(requireIntent(id).record)
    return denied
  }

  /** Checked again within the transaction, because the policy may have become stricter. */
  const approve = (id: string, decision: Decision, grant: ReturnType<typeof createGrant> | undefined): IntentRecord => {
    const unlocked = isReady(requireIntent(id).record)
    return lifecycle.atomically(() => {
      checkMayApprove(requireIntent(id).record, { ...decision, unlocked })
      const detail = grant ? 'You approved it, and similar requests in advance.' : 'You approved it.'
      const approval = lifecycle.approve(id, { decision: byPerson(detail), confirmed: decision.confirmed })
      if (!approval) throw createAlreadyDecidedError(requireIntent(id).record)
      if ('refusal' in approval) throw new AppError('intent/denied', approval.refusal.detail)
      if (grant) {
        grants.add(grant)
        lifecycle.afterwards(() => {
          options.onGrantAdded(grant)
          options.activity.grantAdded(grant, id)
          options.onGrantsChanged()
        })
      }
      return approval.record
    })
  }

  return {
    async decide(id, decision) {
      const stored = requireIntent(id)
      if (stored.record.state !== 'waiting') throw createAlreadyDecidedError(stored.record)
      if (!decision.approve) return deny(id)
      await refresh(stored.record)
      review()
      checkMayApprove(requireIntent(id).record, { ...decision, unlocked: isReady(stored.record) })
      const grant =
        decision.grant && createGrant(stored.record, decision.grant, { id: `grant_${newId()}`, nowMs: now() })
      const prepared = await signing.prepareAgain(stored)
      expireDue()
      const approved = approve(id, decision, grant)
      return signing.sign(approved.id, prepared)
    },
    cancel(
      id,
      requester,
      withdrawal = { actor: { kind: requester.kind, name: requester.name }, error: 'The requester withdrew it.' },
    ) {
      const { record } = requireIntent(id)
      if (record.requester.kind !== requester.kind || record.requester.id !== requester.id)
        throw createMissingIntentError(id)
      const withdrawn = lifecycle.apply(id, 'withdraw', { ...withdrawal, decision: null })
      if (!withdrawn) throw createAlreadyDecidedError(record)
      return withdrawn
    },
  }
}

/** Converts a refusal to the error of an approval. The code refers to the request; the message contains the reason. */
function toRefusalError({ by, error }: Refusal): AppError {
  if (by === 'stop' || error.code === 'intent/denied') return error
  return new AppError('intent/denied', error.message, { cause: error })
}
