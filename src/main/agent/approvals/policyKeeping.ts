import type { IntentRecord } from '../../../shared/contract/intents.ts'
import { walletLocked } from './approvalErrors.ts'
import type { ApprovalGround } from './approvalGround.ts'
import type { Approvals } from './approvals.ts'
import { checkRules, loosens } from './policyChange.ts'

type Ground = Pick<
  ApprovalGround,
  'intents' | 'policies' | 'wallet' | 'notes' | 'became' | 'unsigned' | 'publish' | 'at'
>

/** The rules and the stop switch. What lets more through needs the wallet unlocked. */
export function policyKeeping(
  ground: Ground,
): Pick<Approvals, 'policy' | 'changePolicy' | 'switchStop' | 'hasWallet' | 'checkUnlocked'> {
  const { intents, policies, wallet, notes, became, unsigned, publish, at } = ground

  /** Inside the transaction that turns the switch on. */
  const denyOpen = (): IntentRecord[] => {
    const decision = { by: 'stop', detail: 'The stop switch was turned on.', at: at() } as const
    return (['waiting', 'approved'] as const).flatMap((state) =>
      intents.inState(state).flatMap((record): IntentRecord[] => {
        const next: IntentRecord = { ...record, state: 'denied', decision, error: decision.detail }
        const changed = state === 'approved' ? unsigned(next) : intents.change(next, state)
        return changed ? [next] : []
      }),
    )
  }

  const hasWallet = (): boolean => wallet.accounts().length > 0

  return {
    hasWallet,
    checkUnlocked() {
      if (!wallet.isUnlocked()) throw walletLocked(wallet)
    },
    policy: () => policies.read(),
    changePolicy(next) {
      checkRules(next)
      const unlocked = wallet.isUnlocked()
      const policy = intents.atomically(() => {
        const { stopped, ...present } = policies.read()
        if (loosens(present, next) && !unlocked) throw walletLocked(wallet)
        const changed = { ...next, stopped }
        policies.write(changed)
        return changed
      })
      notes.policyChanged(policy)
      publish({ type: 'policy.changed', policy })
      return policy
    },
    switchStop(stopped) {
      const unlocked = wallet.isUnlocked()
      const { policy, denied } = intents.atomically(() => {
        const present = policies.read()
        // Without a wallet nothing could be signed, and nothing could be unlocked either.
        if (present.stopped && !stopped && !unlocked && hasWallet()) throw walletLocked(wallet)
        policies.switchStop(stopped)
        return { policy: { ...present, stopped }, denied: stopped ? denyOpen() : [] }
      })
      notes.stopSwitched(stopped, denied.length)
      for (const record of denied) became(record)
      if (denied.length > 0) publish({ type: 'grants.changed' })
      publish({ type: 'policy.changed', policy })
      return policy
    },
  }
}
