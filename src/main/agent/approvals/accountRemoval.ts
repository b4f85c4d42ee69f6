import { toIsoTime } from '#shared/time.ts'
import type { Approvals } from './approvals.ts'
import type { IntentLifecycle } from './intentLifecycle.ts'
import { isWalletRequired } from './toPolicyInput.ts'

type Options = {
  lifecycle: Pick<IntentLifecycle, 'atomically' | 'afterwards' | 'inState' | 'find' | 'apply'>
  onGrantsChanged: () => void
  now: () => number
}

/** Ends requests of accounts when the accounts are removed. Their grants are deleted with the account rows. */
export function createAccountRemoval({ lifecycle, onGrantsChanged, now }: Options): Pick<Approvals, 'removeAccounts'> {
  const open = () => [...lifecycle.inState('waiting'), ...lifecycle.inState('approved')]
  return {
    removeAccounts({ ids, detail }, remove) {
      lifecycle.atomically(() => {
        remove()
        const decision = { by: 'steward', detail, at: toIsoTime(now()) } as const
        for (const { id } of open()) {
          const record = lifecycle.find(id)?.record
          if (!record || !isWalletRequired(record.kind) || !ids.has(record.account_id)) continue
          const event = record.state === 'approved' ? 'fail' : 'deny'
          lifecycle.apply(id, event, { decision, error: detail })
        }
        lifecycle.afterwards(onGrantsChanged)
      })
    },
  }
}
