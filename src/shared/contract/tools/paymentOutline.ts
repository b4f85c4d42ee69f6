import type { Payment } from '../paymentRecords.ts'
import type { ToolResult } from './tool.ts'

const usdMicro = 1_000_000

/** Summarizes a payment for a tool result: purpose, state and where to look it up. */
export function outlinePayment(payment: Payment): ToolResult {
  const { id, state, paid, sentence, title, host, pay_to, scheme, network, test, transaction, transaction_url } =
    payment
  return {
    ...{ id, state, paid, sentence, title, host, pay_to, scheme },
    amount_usd: payment.amount_micro_usd / usdMicro,
    paid_micro_usd: payment.paid_micro_usd,
    ...{ network, test, transaction, transaction_url },
  }
}
