import { InlineDecision } from '../../features/approvals/decision/InlineDecision.tsx'
import { PaymentsScreen } from '../../features/payments/PaymentsScreen.tsx'

/** Payments page. Pending payments are decided in place. */
export function PaymentsPage() {
  return <PaymentsScreen Decision={InlineDecision} />
}
