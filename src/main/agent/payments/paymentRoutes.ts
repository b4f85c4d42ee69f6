import { createBytesAnswer } from '#platform/http/answers.ts'
import { AppError } from '#shared/appError.ts'
import type { Asker } from '#shared/contract/intents.ts'
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
import type { PaymentFollower } from './paymentFollower.ts'
import { type PurchaseRequest, parseUsd } from './paymentPlan.ts'
import { type PaymentRepository, type StoredPayment, toAskerKey } from './paymentRepository.ts'
import { type Bought, type Payments, toReceipt } from './payments.ts'
import type { Purchases } from './purchases.ts'
import { type Seller, toPaidAnswer, validateHeaders } from './seller.ts'
import type { SellerAccess } from './sellerAccess.ts'

type Options = {
  payments: Payments
  rows: PaymentRepository
  follow: PaymentFollower['follow']
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
  const toPurchaseRequest = (fields: FetchBody, asker: Asker): PurchaseRequest => {
    const { href: url } = access.requireAddress(fields.url, asker)
    const { method, body } = fields
    if (body !== undefined && !withBody.has(method)) {
      throw new AppError('request/invalid', `\`body\` goes with POST, PUT and PATCH, not with ${method}.`)
    }
    return {
      ...{ seller, via: 'public', url, purpose: 'fetch', title: `${method} ${url}`, quote: null, capMicroUsd: null },
      request: { method, url, headers: validateHeaders(fields.headers ?? {}), body },
    }
  }
  /** Others' payments are to a program as if they were not. @throws AppError `purchase/not-found` */
  const visible = (id: string, asker: Asker): StoredPayment => {
    const payment = rows.find(id)
    const isOwn = payment && toAskerKey(payment.record.asker) === toAskerKey(asker)
    if (payment && (isOwn || asker.kind === 'person')) return payment
    throw new AppError('purchase/not-found', `There is no payment ${id}.`)
  }

  return [
    createLocalEndpoint(discoverPayments, ({ body }, { asker, signal }) =>
      discoverEndpoints(seller, access.requireAddress(body.url, asker), signal),
    ),
    createLocalEndpoint(checkPayment, ({ body }, { asker, signal }) => {
      access.assertMethod(body.method, asker, { readsOnly: true })
      return payments.check(toPurchaseRequest(body, asker), asker, signal)
    }),
    createLocalEndpoint(fetchPaid, async ({ body }, call) => {
      const { url, method, headers, max_amount_usd: maxUsd, reason, wait_ms: waitMs } = body
      access.assertMethod(method, call.asker)
      const createRequest = async (): Promise<PurchaseRequest> => ({
        ...toPurchaseRequest({ url, method, headers, ...(body.body !== undefined && { body: body.body }) }, call.asker),
        capMicroUsd: maxUsd === undefined ? null : parseUsd('max_amount_usd', maxUsd),
      })
      return toResult(await payments.buy(createRequest, call, { reason, waitMs }))
    }),
    createLocalEndpoint(quotePurchase, async ({ body }, { asker, signal }) => {
      const { registration, renewal, topup } = body
      const request = registration
        ? purchases.registration(registration)
        : renewal
          ? await purchases.renewal(renewal)
          : await purchases.topUp(topup?.amount_usd ?? 0)
      return payments.check(request, asker, signal)
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
    createLocalEndpoint(listPayments, ({ query: { limit, before, ...filters } }, { asker }) => {
      const filter = { ...filters, ...(asker.kind !== 'person' && { asker: toAskerKey(asker) }) }
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
    createLocalEndpoint(getPayment, async ({ params, query }, { asker, signal }) => {
      const { record } = visible(params.paymentId, asker)
      return toReceipt(await payments.waitUntilSettled(record.id, { waitMs: query.wait_ms, signal }))
    }),
    createLocalEndpoint(reconcilePayment, async ({ params }, { asker }) => {
      const { record } = visible(params.paymentId, asker)
      await follow(record.id)
      return toReceipt(visible(record.id, asker))
    }),
  ]
}

function toResult(bought: Bought) {
  if (bought.payment === null) {
    return { payment: null, answer: toPaidAnswer(bought.answer) }
  }
  return { payment: toReceipt(bought.payment), answer: bought.payment.answer }
}
