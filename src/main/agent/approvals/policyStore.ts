import { toIsoTime } from '#shared/time.ts'
import type { WalletKeys } from '../wallet/walletKeys.ts'
import type { ApprovalActivity } from './approvalActivity.ts'
import { createWalletLockedError } from './approvalErrors.ts'
import type { Approvals } from './approvals.ts'
import type { IntentLifecycle } from './intentLifecycle.ts'
import { checkRules, isLooser } from './policyChange.ts'
import type { PolicyRepository } from './policyRepository.ts'

type Options = {
  lifecycle: Pick<IntentLifecycle, 'atomically' | 'afterwards' | 'inState' | 'apply'>
  policies: PolicyRepository
  wallet: Pick<WalletKeys, 'isUnlocked' | 'accounts'>
  /** Ends waiting requests that became impossible. */
  review: () => void
  activity: Pick<ApprovalActivity, 'policyChanged' | 'stopSwitched'>
  onChanged: (policy: ReturnType<Approvals['policy']>) => void
  now: () => number
}

/** Creates the store of the rules and the stop switch. A loosening change requires an unlocked wallet. */
export function createPolicyStore(
  options: Options,
): Pick<Approvals, 'policy' | 'changePolicy' | 'switchStop' | 'hasWallet' | 'checkUnlocked'> {
  const { lifecycle, policies, wallet, review, activity, onChanged, now } = options

  /** Denies intents that are waiting or being signed. @returns the number of denied intents */
  const denyOpen = (): number => {
    const decision = { by: 'stop', detail: 'Everything was stopped.', at: toIsoTime(now()) } as const
    const open = [...lifecycle.inState('waiting'), ...lifecycle.inState('approved')]
    return open.filter(({ id }) => lifecycle.apply(id, 'stop', { decision, error: decision.detail })).length
  }

  const hasWallet = (): boolean => wallet.accounts().length > 0

  return {
    hasWallet,
    checkUnlocked() {
      if (!wallet.isUnlocked()) throw createWalletLockedError(wallet)
    },
    policy: () => policies.read(),
    changePolicy(next) {
      checkRules(next)
      const unlocked = wallet.isUnlocked()
      return lifecycle.atomically(() => {
        const { stopped, ...present } = policies.read()
        if (isLooser(present, next) && !unlocked) throw createWalletLockedError(wallet)
        const changed = { ...next, stopped }
        policies.write(changed)
        review()
        lifecycle.afterwards(() => {
          activity.policyChanged({ ...present, stopped }, changed)
          onChanged(changed)
        })
        return changed
      })
    },
    switchStop(stopped) {
      const unlocked = wallet.isUnlocked()
      return lifecycle.atomically(() => {
        const present = policies.read()
        // No unlock is required if no wallet exists, because nothing can be signed or unlocked.
        if (present.stopped && !stopped && !unlocked && hasWallet()) throw createWalletLockedError(wallet)
        policies.switchStop(stopped)
        const policy = { ...present, stopped }
        let denied = 0
        lifecycle.afterwards(() => activity.stopSwitched(stopped, denied))
        if (stopped) denied = denyOpen()
        lifecycle.afterwards(() => onChanged(policy))
        return policy
      })
    },
  }
}
