import { z } from 'zod'
import { persistValue } from '../../storage/persistValue.ts'
import { windowStore } from '../../storage/textStore.ts'
import type { PurchaseOrder } from '../../ui/purchaseContext.ts'

const Order = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('registration'),
    domain: z.string(),
    unicode: z.string(),
    renewal: z.number().nullable(),
  }),
  z.object({ kind: z.literal('renewal'), domain: z.string(), unicode: z.string(), expiresAt: z.string() }),
  z.object({ kind: z.literal('topup'), amountUsd: z.number() }),
])
const StoredPurchase = z.object({ order: Order, paymentId: z.string() })

/** Order whose dialog is open, so that it survives a reload of the window. */
export const storedPurchase = persistValue<z.infer<typeof StoredPurchase> | null>(
  'steward.purchase',
  StoredPurchase.nullable(),
  null,
  { stores: [windowStore] },
)

/** `northwind.com`, `$10 of credits`. */
export function describePurchase(order: PurchaseOrder): string {
  return order.kind === 'topup' ? `$${order.amountUsd} of credits` : order.unicode
}
