import { AppError } from '#shared/appError.ts'
import type { Policy } from '#shared/contract/intents.ts'
import type { ApprovalDialog } from './approvalDialog.ts'
import type { Approvals } from './approvals.ts'
import { type ConfirmationText, describeConfirmation, resumeConfirmation } from './describeConfirmation.ts'
import { checkRules, isLooser } from './policyChange.ts'

/** Pending policy change that requires confirmation in a secure prompt. */
export type PendingPolicyChange = ConfirmationText & { apply: () => unknown }

export type PolicyConfirmation = {
  /** @throws AppError `policy/confirmation`, `wallet/locked`, `wallet/absent` */
  change(next: Omit<Policy, 'stopped'>, signal: AbortSignal): Promise<Policy>
  /**
   * Needs no confirmation without a wallet, because nothing can be signed.
   * @throws AppError `policy/confirmation`, `wallet/locked`
   */
  switchStop(stopped: boolean, signal: AbortSignal): Promise<Policy>
  /**
   * Confirms and applies any other loosening change. `apply` throws if the change differs from the text that the user confirmed.
   * @throws AppError `policy/confirmation`, `wallet/locked`, `wallet/absent`
   */
  confirmAndApply<T>(change: ConfirmationText & { apply: () => T }, signal: AbortSignal): Promise<T>
  pending(): PendingPolicyChange | undefined
}

type Options = {
  approvals: Pick<Approvals, 'policy' | 'changePolicy' | 'switchStop' | 'hasWallet' | 'checkUnlocked'>
  dialog: ApprovalDialog | undefined
}

/** Maximum lines that fit into a readable dialog. */
const maxLines = 20

/**
 * Applies stricter policies immediately. A looser policy, or the end of a stop, requires confirmation outside the
 * window. Otherwise an attacker in the window could first remove the confirmation of large amounts.
 */
export function createPolicyConfirmation({ approvals, dialog }: Options): PolicyConfirmation {
  let pending: PendingPolicyChange | undefined
  let isOpen = false

  const confirmAndApply = async <T>(change: ConfirmationText & { apply: () => T }, signal: AbortSignal): Promise<T> => {
    if (change.lines.length > maxLines)
      throw createUnconfirmedError(`This changes more than ${maxLines} things. Save it in smaller steps.`)
    if (!dialog) {
      pending = change
      throw createUnconfirmedError('This allows more than before and needs an extra confirmation.')
    }
    approvals.checkUnlocked()
    if (isOpen) throw createUnconfirmedError('The confirmation dialog for the policy is already open.')
    isOpen = true
    try {
      if (await dialog.confirmPolicy(change, signal)) return change.apply()
    } finally {
      isOpen = false
    }
    throw createUnconfirmedError('Not confirmed. Nothing was changed.')
  }

  return {
    async change(next, signal) {
      checkRules(next)
      const present = approvals.policy()
      if (!isLooser(present, next)) return approvals.changePolicy(next)
      if (!approvals.hasWallet()) {
        throw new AppError(
          'wallet/absent',
          'Confirming a policy that allows more needs your wallet passphrase, and you have no wallet yet.',
        )
      }
      const apply = () => {
        const { stopped: _, ...now } = approvals.policy()
        const { stopped: __, ...then } = present
        // Rejects a confirmation of an outdated change.
        if (JSON.stringify(now) !== JSON.stringify(then))
          throw createUnconfirmedError('The policy changed in the meantime.')
        return approvals.changePolicy(next)
      }
      return confirmAndApply({ ...describeConfirmation(present, next), apply }, signal)
    },
    async switchStop(stopped, signal) {
      const confirms = !stopped && approvals.policy().stopped && approvals.hasWallet()
      if (!confirms) return approvals.switchStop(stopped)
      return confirmAndApply({ ...resumeConfirmation, apply: () => approvals.switchStop(false) }, signal)
    },
    async confirmAndApply(change, signal) {
      if (!approvals.hasWallet()) {
        throw new AppError('wallet/absent', 'Confirming this needs your wallet passphrase, and you have no wallet yet.')
      }
      return confirmAndApply(change, signal)
    },
    pending: () => pending,
  }
}

function createUnconfirmedError(message: string): AppError {
  return new AppError('policy/confirmation', message)
}
