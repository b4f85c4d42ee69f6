import { describePurchase } from '#shared/contract/purchaseLabels.ts'
import type { Reservations } from '../approvals/reservations.ts'
import type { PurchaseLeaseRepository } from './purchaseLeaseRepository.ts'

type Options = {
  leases: PurchaseLeaseRepository
  /** Whether a request is approved, or signed with a payment whose outcome is still open. */
  isUnderWay: (intentId: string) => boolean
}

/**
 * Admits one purchase of a product at a time. The lease begins with the approval and ends with the payment; a crash's
 * lease is taken over once its request is known to have ended.
 */
export function createLeaseReservations({ leases, isUnderWay }: Options): Reservations {
  return {
    reserve({ id, purchase }) {
      if (!purchase) return undefined
      const holder = leases.findHolder(purchase)
      if (holder !== undefined && holder !== id && isUnderWay(holder)) {
        return { effect: 'ask', detail: `Another request to ${describePurchase(purchase)} is being paid.` }
      }
      leases.set(purchase, id)
      return undefined
    },
    commit() {},
    giveBack: leases.remove,
  }
}
