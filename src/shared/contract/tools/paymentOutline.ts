import type { Payment } from '../paymentRecords.ts'
import type { ToolResult } from './tool.ts'

const usdMicro = 1_000_000

/** A payment as tools tell it: what it is, where it stands, and where to look it up. */
export function paymentOutline(payment: Payment): ToolResult {
  const { id, state, paid, sentence, title, host, pay_to, scheme, network, test, transaction, transaction_url } =
    payment
  return {
    ...{ id, state, paid, sentence, title, host, pay_to, scheme },
    amount_usd: payment.amount_micro_usd / usdMicro,
    paid_micro_usd: payment.paid_micro_usd,
    ...{ network, test, transaction, transaction_url },
  }
}
