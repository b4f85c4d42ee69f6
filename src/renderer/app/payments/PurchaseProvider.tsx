import { lazy, type ReactNode, Suspense, useState } from 'react'
import { PurchaseContext, type PurchaseOrder } from '../../ui/purchaseContext.ts'

const PurchaseView = lazy(async () => ({ default: (await import('./PurchaseView.tsx')).PurchaseView }))

/** Shows one purchase at a time, whoever asks for it. */
export function PurchaseProvider({ children }: { children: ReactNode }) {
  const [shown, setShown] = useState<{ id: number; order: PurchaseOrder }>()
  const [open] = useState(() => (order: PurchaseOrder) => setShown((before) => ({ id: (before?.id ?? 0) + 1, order })))
  return (
    <PurchaseContext value={open}>
      {children}
      {shown && (
        <Suspense>
          <PurchaseView key={shown.id} order={shown.order} onClose={() => setShown(undefined)} />
        </Suspense>
      )}
    </PurchaseContext>
  )
}
