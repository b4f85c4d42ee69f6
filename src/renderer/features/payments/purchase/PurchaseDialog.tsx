import { useState } from 'react'
import type { PurchaseOrder } from '../../../ui/purchaseContext.ts'
import type { DecisionView } from '../decisionView.ts'
import { OrderDialog } from './OrderDialog.tsx'
import { ProgressDialog } from './ProgressDialog.tsx'

type PurchaseDialogProps = { order: PurchaseOrder; Decision: DecisionView; onClose: () => void }

/** From a price to what was bought: the order, then its payment. */
export function PurchaseDialog({ order, Decision, onClose }: PurchaseDialogProps) {
  const [paymentId, setPaymentId] = useState<string>()
  if (paymentId === undefined) return <OrderDialog order={order} onClose={onClose} onOrdered={setPaymentId} />
  return (
    <ProgressDialog
      order={order}
      paymentId={paymentId}
      Decision={Decision}
      onClose={onClose}
      onAgain={() => setPaymentId(undefined)}
    />
  )
}
