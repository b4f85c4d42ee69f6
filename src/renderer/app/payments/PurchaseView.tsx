import { InlineDecision } from '../../features/approvals/decision/InlineDecision.tsx'
import { PurchaseDialog } from '../../features/payments/purchase/PurchaseDialog.tsx'
import type { PurchaseOrder } from '../../ui/purchaseContext.ts'

/** A purchase that is approved where it is made. */
export function PurchaseView({ order, onClose }: { order: PurchaseOrder; onClose: () => void }) {
  return <PurchaseDialog order={order} Decision={InlineDecision} onClose={onClose} />
}
