import type { Log } from '#platform/logging/log.ts'
import { AppError } from '#shared/appError.ts'
import type { IntentRecord } from '#shared/contract/intents.ts'
import { type EvaluateAction, isFinal } from '../base/evaluateAction.ts'
import type { PreparedIntent, Signer } from '../signer/signer.ts'
import type { WalletKeys } from '../wallet/walletKeys.ts'
import { createMissingIntentError } from './approvalErrors.ts'
import type { IntentEvaluation } from './intentEvaluation.ts'
import type { IntentLifecycle } from './intentLifecycle.ts'
import { isSameIntent } from './intentRecord.ts'
import type { StoredIntent } from './intentRepository.ts'

export type IntentSigning = {
  /** Prepares the intent again. @throws AppError `intent/invalid` if the result differs from the approved one */
  prepareAgain(stored: StoredIntent): Promise<PreparedIntent>
  /**
   * Signs an approved intent. If the wallet locked itself but is unlocked again, signing resumes immediately.
   * @returns the resulting record: signed, failed, stopped, or waiting for the wallet
   */
  sign(id: string, prepared: PreparedIntent): Promise<IntentRecord>
  /** Ends unfinished intents of an earlier run, and resumes the others. */
  start(): void
  /** Evaluates allowed intents again after an unlock and signs them. */
  resumeAll(): void
  /** Discards signatures that are in progress. */
  close(): void
}

type Options = {
  lifecycle: IntentLifecycle
  evaluation: Pick<IntentEvaluation, 'reapplyPolicy'>
  mayNow: EvaluateAction
  signer: Signer
  wallet: Pick<WalletKeys, 'isUnlocked'>
  isStopped: () => boolean
  /** Checks whether conditions have changed since the request. @throws AppError if the intent must not be signed */
  beforeSigning: (record: IntentRecord) => Promise<void>
  expireDue: () => void
  log: Log
}

export function createIntentSigning({
  lifecycle,
  evaluation,
  mayNow,
  signer,
  wallet,
  isStopped,
  beforeSigning,
  expireDue,
  log,
}: Options): IntentSigning {
  let closed = false

  const present = (id: string): IntentRecord => {
    const record = lifecycle.find(id)?.record
    if (!record) throw createMissingIntentError(id)
    return record
  }
  const mayBeSigned = (id: string): boolean => present(id).state === 'approved' && !isStopped()

  /** Signs once. Discards the signature if the intent was stopped during signing. */
  const signOnce = async (id: string, prepared: PreparedIntent): Promise<IntentRecord> => {
    if (!mayBeSigned(id)) return present(id)
    try {
      await beforeSigning(present(id))
      if (!mayBeSigned(id)) return present(id)
      // Rules that became stricter since the approval take precedence. Budgets and limits are already reserved, and the
      // deadline applied to the decision only.
      const refusal = mayNow({ request: present(id) })
      if (refusal && isFinal(refusal) && refusal.by !== 'expiry') throw refusal.error
      const result = await signer.sign(prepared)
      if (closed) throw new AppError('service/unavailable', 'Steward is shutting down.')
      if (!mayBeSigned(id)) return present(id)
      return lifecycle.apply(id, 'sign', { result }) ?? present(id)
    } catch (error) {
      if (closed) throw error
      // The wallet locked during signing. The approval remains valid, and signing continues after an unlock.
      if (error instanceof AppError && error.code === 'wallet/locked') {
        return lifecycle.apply(id, 'lock') ?? present(id)
      }
      if (!(error instanceof AppError)) log.error('failed to sign an intent', { intentId: id, error })
      return lifecycle.apply(id, 'fail', { error: formatReason(error) }) ?? present(id)
    }
  }

  const prepareAgain = async ({ intent, record }: StoredIntent): Promise<PreparedIntent> => {
    const prepared = await signer.prepare(intent)
    if (isSameIntent(record, prepared)) return prepared
    throw new AppError('intent/invalid', 'The data to sign no longer matches the request.')
  }

  /** Finds an intent that is allowed but not yet signed. */
  const findDeferred = (id: string): StoredIntent | undefined => {
    const stored = lifecycle.find(id)
    return stored?.record.state === 'waiting' && stored.record.decision !== null ? stored : undefined
  }
  const resume = async (stored: StoredIntent): Promise<void> => {
    const { id } = stored.record
    const prepared = await prepareAgain(stored).catch((error: unknown) => {
      if (!closed && findDeferred(id)) lifecycle.apply(id, 'fail', { error: formatReason(error) })
    })
    if (!prepared || closed || !wallet.isUnlocked()) return
    expireDue()
    const next = lifecycle.atomically(() => {
      const still = findDeferred(id)
      return still && evaluation.reapplyPolicy(still)
    })
    if (next?.state === 'approved') await signOnce(id, prepared)
  }
  const resumeAll = (): void => {
    if (closed || !wallet.isUnlocked()) return
    expireDue()
    for (const { id } of lifecycle.inState('waiting')) {
      const stored = findDeferred(id)
      if (stored) resume(stored).catch((error: unknown) => log.error('failed to resume an intent', { error }))
    }
  }

  return {
    prepareAgain,
    async sign(id, prepared) {
      const after = await signOnce(id, prepared)
      if (after.state === 'waiting') resumeAll()
      return after
    },
    start() {
      lifecycle.failDamaged()
      for (const { id } of lifecycle.inState('approved')) {
        lifecycle.apply(id, 'fail', { error: 'Steward closed before signing.' })
      }
      expireDue()
      resumeAll()
    },
    resumeAll,
    close() {
      closed = true
    },
  }
}

function formatReason(error: unknown): string {
  return error instanceof AppError ? error.message : 'Something went wrong in Steward.'
}
