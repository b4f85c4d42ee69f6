import { createBytesAnswer } from '#platform/http/answers.ts'
import { AppError } from '#shared/appError.ts'
import type { Requester } from '#shared/contract/intents.ts'
import {
  checkPayment,
  discoverPayments,
  exportPayments,
  fetchPaid,
  getPayment,
  listPayments,
  reconcilePayment,
} from '#shared/contract/localPayments.ts'
import { buyRegistration, buyRenewal, buyTopUp, quotePurchase } from '#shared/contract/localPurchases.ts'
import { createLocalEndpoint, type LocalEndpoint } from '../base/localEndpoint.ts'
import { discoverEndpoints } from './discovery.ts'
import { formatPaymentCsv, formatPaymentLines } from './paymentExport.ts'
import { type PurchaseRequest, parseUsd } from './paymentPlan.ts'
import type { PaymentReconciler } from './paymentReconciler.ts'
import { type PaymentRepository, type StoredPayment, toRequesterKey } from './paymentRepository.ts'
import { type Payments, type PurchaseResult, toReceipt } from './payments.ts'
import type { Purchases } from './purchases.ts'
import { type Seller, toPaidResponse, validateHeaders } from './seller.ts'
import type { SellerAccess } from './sellerAccess.ts'

type Options = {
  payments: Payments
  rows: PaymentRepository
  follow: PaymentReconciler['follow']
  purchases: Purchases
  seller: Seller
  access: SellerAccess
}

const formats = {
  csv: { mediaType: 'text/csv; charset=utf-8', ending: 'csv', lines: formatPaymentCsv },
  jsonl: { mediaType: 'application/x-ndjson; charset=utf-8', ending: 'jsonl', lines: formatPaymentLines },
} as const
type FetchBody = { url: string; method: string; headers?: Record<string, string>; body?: string }

const withBody: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH'])

export function createPaymentRoutes({ payments, rows, follow, purchases, seller, access }: Options): LocalEndpoint[] {
  const toPurchaseRequest = (fields: FetchBody, requester: Requester): PurchaseRequest => {
    const { href: url } = access.requireAddress(fields.url, requester)
    const { method, body } = fields
    if (body !== undefined && !withBody.has(method)) {
      throw new AppError('request/invalid', `\`body\` requires POST, PUT or PATCH, not ${method}.`)
    }
    return {
      ...{ seller, via: 'public', url, purpose: 'fetch', title: `${method} ${url}`, quote: null, capMicroUsd: null },
      request: { method, url, headers: validateHeaders(fields.headers ?? {}), body },
    }
  }
  /**
   * Returns a payment that the requester may see. Programs see only their own payments.
   * @throws AppError `purchase/not-found`
   */
  const visible = (id: string, requester: Requester): StoredPayment => {
    const payment = rows.find(id)
    const isOwn = payment && toRequesterKey(payment.record.requester) === toRequesterKey(requester)
    if (payment && (isOwn || requester.kind === 'person')) return payment
    throw new AppError('purchase/not-found', `There is no payment ${id}.`)
  }

  return [
    createLocalEndpoint(discoverPayments, ({ body }, { requester, signal }) =>
      discoverEndpoints(seller, access.requireAddress(body.url, requester), signal),
    ),
    createLocalEndpoint(checkPayment, ({ body }, { requester, signal }) => {
      access.assertMethod(body.method, requester, { readsOnly: true })
      return payments.check(toPurchaseRequest(body, requester), requester, signal)
    }),
    createLocalEndpoint(fetchPaid, async ({ body }, call) => {
      const { url, method, headers, max_amount_usd: maxUsd, reason, wait_ms: waitMs } = body
      access.assertMethod(method, call.requester)
      const createRequest = async (): Promise<PurchaseRequest> => ({
        ...toPurchaseRequest(
          { url, method, headers, ...(body.body !== undefined && { body: body.body }) },
          call.requester,
        ),
        capMicroUsd: maxUsd === undefined ? null : parseUsd('max_amount_usd', maxUsd),
      })
      return toResult(await payments.buy(createRequest, call, { reason, waitMs }))
    }),
    createLocalEndpoint(quotePurchase, async ({ body }, { requester, signal }) => {
      const { registration, renewal, topup } = body
      const request = registration
        ? purchases.registration(registration)
        : renewal
          ? await purchases.renewal(renewal)
          : await purchases.topUp(topup?.amount_usd ?? 0)
      return payments.check(request, requester, signal)
    }),
    createLocalEndpoint(buyRegistration, async ({ body }, call) => {
      const { price_usd: price, reason, wait_ms: waitMs, ...fields } = body
      return toResult(await payments.buy(async () => purchases.registration(fields, price), call, { reason, waitMs }))
    }),
    createLocalEndpoint(buyRenewal, async ({ body }, call) => {
      const { price_usd: price, reason, wait_ms: waitMs, ...fields } = body
      return toResult(await payments.buy(() => purchases.renewal(fields, price), call, { reason, waitMs }))
    }),
    createLocalEndpoint(buyTopUp, async ({ body: { amount_usd: amount, reason, wait_ms: waitMs } }, call) =>
      toResult(await payments.buy(() => purchases.topUp(amount), call, { reason, waitMs })),
    ),
    createLocalEndpoint(listPayments, ({ query: { limit, before, ...filters } }, { requester }) => {
      const filter = { ...filters, ...(requester.kind !== 'person' && { requester: toRequesterKey(requester) }) }
      const page = rows.list({ ...filter, before }, limit + 1)
      return { payments: page.slice(0, limit), has_more: page.length > limit, total: rows.count(filter) }
    }),
    createLocalEndpoint(exportPayments, ({ query: { format, ...filter } }) => {
      const { mediaType, ending, lines } = formats[format]
      return createBytesAnswer({
        headers: {
          'content-type': mediaType,
          'content-disposition': `attachment; filename="steward-payments.${ending}"`,
        },
        body: lines(rows.all(filter)),
      })
    }),
    createLocalEndpoint(getPayment, async ({ params, query }, { requester, signal }) => {
      const { record } = visible(params.paymentId, requester)
      return toReceipt(await payments.waitUntilSettled(record.id, { waitMs: query.wait_ms, signal }))
    }),
    createLocalEndpoint(reconcilePayment, async ({ params }, { requester }) => {
      const { record } = visible(params.paymentId, requester)
      await follow(record.id)
      return toReceipt(visible(record.id, requester))
    }),
  ]
}

function toResult(bought: PurchaseResult) {
  if (bought.payment === null) {
    return { payment: null, answer: toPaidResponse(bought.answer) }
  }
  return { payment: toReceipt(bought.payment), answer: bought.payment.answer }
}
