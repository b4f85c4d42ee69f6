import { lazy, type ReactNode, Suspense, useEffect, useState } from 'react'
import { z } from 'zod'
import { persistValue } from '../../storage/persistValue.ts'
import { windowStore } from '../../storage/textStore.ts'
import { PurchaseContext, type PurchaseOrder } from '../../ui/purchaseContext.ts'
import { notify } from '../../ui/toast.tsx'

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

/** Order with an open dialog, stored so that it survives a reload of the window. */
const storedPurchase = persistValue<z.infer<typeof StoredPurchase> | null>(
  'steward.purchase',
  StoredPurchase.nullable(),
  null,
  { stores: [windowStore] },
)

const PurchaseDialog = lazy(async () => ({
  default: (await import('../../features/payments/purchase/PurchaseDialog.tsx')).PurchaseDialog,
}))

/** Shows one purchase at a time. */
export function PurchaseProvider({ children }: { children: ReactNode }) {
  const [purchase, setPurchase] = useState<{ id: number; order: PurchaseOrder; paymentId?: string }>()
  const [open] = useState(
    () => (order: PurchaseOrder) => setPurchase((before) => ({ id: (before?.id ?? 0) + 1, order })),
  )
  useEffect(() => {
    const left = storedPurchase.read()
    if (!left) return
    return notify.asked(`Your purchase of ${describePurchase(left.order)} is not finished`, {
      id: 'purchase',
      action: { label: 'Continue', run: () => setPurchase({ id: 0, ...left }) },
    })
  }, [])
  const close = () => {
    storedPurchase.clear()
    setPurchase(undefined)
  }
  return (
    <PurchaseContext value={open}>
      {children}
      {purchase && (
        <Suspense>
          <PurchaseDialog
            key={purchase.id}
            order={purchase.order}
            paymentId={purchase.paymentId}
            onOrdered={(paymentId) => storedPurchase.write({ order: purchase.order, paymentId })}
            onClose={close}
          />
        </Suspense>
      )}
    </PurchaseContext>
  )
}

/** Returns a description such as `northwind.com` or `$10 of credits`. */
function describePurchase(order: PurchaseOrder): string {
  return order.kind === 'topup' ? `$${order.amountUsd} of credits` : order.unicode
}
