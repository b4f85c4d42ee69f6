import { useState } from 'react'
import type { PurchaseOrder } from '#renderer/ui/purchaseContext.ts'
import { OrderDialog } from './OrderDialog.tsx'
import { ProgressDialog } from './ProgressDialog.tsx'

type PurchaseDialogProps = {
  order: PurchaseOrder
  /** Payment of an order placed before the window was reloaded. */
  paymentId: string | undefined
  onOrdered: (paymentId: string) => void
  onClose: () => void
}

export function PurchaseDialog({ order, onClose, ...props }: PurchaseDialogProps) {
  const [paymentId, setPaymentId] = useState(props.paymentId)
  const learn = (id: string) => {
    setPaymentId(id)
    props.onOrdered(id)
  }
  if (paymentId === undefined) return <OrderDialog order={order} onClose={onClose} onOrdered={learn} />
  return (
    <ProgressDialog order={order} paymentId={paymentId} onClose={onClose} onAgain={() => setPaymentId(undefined)} />
  )
}
