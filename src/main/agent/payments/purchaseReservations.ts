import { describePurchase } from '#shared/contract/purchaseLabels.ts'
import type { Reservations } from '../approvals/reservations.ts'
import type { PurchaseLeaseRepository } from './purchaseLeaseRepository.ts'

type Options = {
  leases: PurchaseLeaseRepository
  /** Whether the intent is approved, or signed with a payment of unknown outcome. */
  isUnderWay: (intentId: string) => boolean
}

/**
 * Allows one purchase of an item at a time. The lease starts with the approval and ends with the payment. After a
 * crash, it is taken over once its intent is known to have ended.
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
