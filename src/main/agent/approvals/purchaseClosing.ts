import { describePurchase } from '#shared/contract/purchaseLabels.ts'
import { toIsoTime } from '#shared/time.ts'
import type { Approvals } from './approvals.ts'
import type { IntentLifecycle } from './intentLifecycle.ts'

type Options = { lifecycle: Pick<IntentLifecycle, 'atomically' | 'inState' | 'apply'>; now: () => number }

/** Closes requests for something that has been bought since. Approving one would buy it twice, or fail. */
export function createPurchaseClosing({ lifecycle, now }: Options): Pick<Approvals, 'closePurchase'> {
  return {
    closePurchase(purchase) {
      const detail = `Another request to ${describePurchase(purchase)} was paid.`
      lifecycle.atomically(() => {
        for (const record of lifecycle.inState('waiting')) {
          if (record.purchase !== purchase) continue
          lifecycle.apply(record.id, 'deny', {
            decision: { by: 'steward', detail, at: toIsoTime(now()) },
            error: detail,
          })
        }
      })
    },
  }
}
