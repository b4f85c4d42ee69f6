import { InlineDecision } from '../../features/approvals/decision/InlineDecision.tsx'
import { PurchaseDialog } from '../../features/payments/purchase/PurchaseDialog.tsx'
import type { PurchaseOrder } from '../../ui/purchaseContext.ts'

type PurchaseViewProps = {
  order: PurchaseOrder
  paymentId: string | undefined
  onOrdered: (paymentId: string) => void
  onClose: () => void
}

/** Purchase dialog with approval in place. */
export function PurchaseView(props: PurchaseViewProps) {
  return <PurchaseDialog {...props} Decision={InlineDecision} />
}
