import type { IntentRecord } from '#shared/contract/intents.ts'
import type { PaymentId, PaymentReceipt } from '#shared/contract/paymentRecords.ts'
import { describePaymentState } from './describePayment.ts'
import type { ChosenOffer, PurchaseRequest } from './paymentPlan.ts'
import type { StoredPayment } from './paymentRepository.ts'
import { isCredential } from './seller.ts'

type PaymentOptions = {
  id: PaymentId
  intent: IntentRecord
  /** Identifier of the connected service in the journal. */
  service: string
  /** Time of creation, in ISO 8601. */
  timestamp: string
}

/** Creates the payment of a newly submitted intent. The stored request has no credentials. */
export function createStoredPayment(
  purchase: PurchaseRequest,
  { chosen }: ChosenOffer,
  { id, intent, service, timestamp }: PaymentOptions,
): StoredPayment {
  const { offer, raw, network, identifier } = chosen
  const { request, via, url, purpose, title, quote } = purchase
  const state = intent.state === 'denied' ? 'refused' : intent.state === 'waiting' ? 'waiting' : 'planned'
  const paid = state === 'refused' ? false : null
  const scheme = chosen.facilitator === undefined ? ('exact' as const) : ('upto' as const)
  const headers = Object.entries(request.headers)
  const storedHeaders = headers.filter(([name]) => !isCredential(name))
  const record = {
    ...{ id, state, paid, purpose, title, url, quote, offer, requester: intent.requester, reason: intent.reason },
    sentence: describePaymentState({ state, paid, amount: offer.amount, test: offer.test, scheme }),
    error: state === 'refused' ? intent.error : null,
    ...{ method: request.method, host: new URL(url).host, scheme },
    ...{ network: offer.network, network_name: network?.name ?? offer.network, test: offer.test, asset: offer.asset },
    ...{ from: intent.address, pay_to: offer.pay_to, amount: offer.amount },
    amount_micro_usd: offer.amount_micro_usd ?? 0,
    paid_micro_usd: paid === false ? 0 : null,
    ...{ intent_id: intent.id, valid_until: null, transaction: null, transaction_url: null },
    ...{ created_at: timestamp, updated_at: timestamp, signature_sha256: null, receipt: null, reconciled_by: null },
    steps: [{ state, detail: state === 'refused' ? intent.error : null, at: timestamp }],
  } satisfies Omit<PaymentReceipt, 'answer'>
  return {
    record,
    request: {
      ...{ via, service: via === 'service' ? service : '', method: request.method, url: request.url },
      headers: Object.fromEntries(storedHeaders),
      ...(request.body !== undefined && { body: request.body }),
      complete: storedHeaders.length === headers.length,
      ...(identifier && { identifier }),
    },
    raw: { ...raw },
    ...{ payload: null, attempts: 0, nextAtMs: null, answer: null },
  }
}
