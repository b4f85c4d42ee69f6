import { InlineDecision } from '../../features/approvals/decision/InlineDecision.tsx'
import { PaymentsScreen } from '../../features/payments/PaymentsScreen.tsx'

/** The payments, where those that wait are decided in place. */
export function PaymentsPage() {
  return <PaymentsScreen Decision={InlineDecision} />
}
