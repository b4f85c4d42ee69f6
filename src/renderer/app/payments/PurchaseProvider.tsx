import { lazy, type ReactNode, Suspense, useEffect, useState } from 'react'
import { PurchaseContext, type PurchaseOrder } from '../../ui/purchaseContext.ts'
import { notify } from '../../ui/toast.tsx'
import { describePurchase, storedPurchase } from './storedPurchase.ts'

const PurchaseView = lazy(async () => ({ default: (await import('./PurchaseView.tsx')).PurchaseView }))

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
          <PurchaseView
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
