import { randomBytes } from 'node:crypto'
import type { PricedRequest, Price as RoutePrice } from '#platform/http/endpoint.ts'
import type { Route } from '#shared/contract/route.ts'
import type { AnyCall } from '../base/endpoint.ts'
import type { Facilitator } from './facilitator.ts'
import { createPaymentRequiredError, type Offer } from './offer.ts'
import type { AnySale, PaidWork, PaymentResult } from './paidWork.ts'
import { type PaymentPayload, parsePaymentHeader } from './parsePaymentHeader.ts'
import { type Refusal, validateAuthorization } from './paymentAuthorization.ts'
import type { PaymentBooks } from './paymentBooks.ts'
import type { PaymentClaims } from './paymentClaims.ts'
import { createInFlightError } from './paymentErrors.ts'
import type { PaymentLock, PaymentRow } from './paymentRepository.ts'
import type { PaymentSettler } from './paymentSettler.ts'
import type { Quote } from './sale.ts'
import {
  assertOwnWallet,
  type BoundRequest,
  findMismatch,
  mayHavePaid,
  type Order,
  toBoundRequest,
  toKeyNames,
  toKeyString,
  toOrder,
} from './toBoundRequest.ts'

type CheckoutOptions = {
  books: Pick<PaymentBooks, 'get' | 'isLeased' | 'open' | 'drop'>
  claims: PaymentClaims
  settler: PaymentSettler
  work: PaidWork
  payTo: string
  /** Base URL of this service without a trailing slash. */
  baseUrl: () => string
  now: () => number
  /** Clock for schedules of unfinished payments. */
  steadyMs: () => number
}

/** Request to a paid route, with the terms of its sale. */
type Purchase = {
  order: Order
  call: AnyCall
  getQuote: () => Promise<Quote<unknown>>
  toOffer: (quote: Quote<unknown>) => Offer
  assertDeliverable: (quote: Quote<unknown>) => Promise<void>
}

/** @returns a function that prices a route and takes the payment of each request */
export function createCheckout(options: CheckoutOptions): (route: Route, sale: AnySale) => RoutePrice<AnyCall> {
  const { books, claims, settler, payTo, baseUrl } = options

  const toOffer = ({ amount, description }: Quote<unknown>, { path }: PricedRequest): Offer => ({
    network: settler.getNetwork(),
    payTo,
    amount,
    description,
    resource: `${baseUrl()}${path}`,
  })

  return (route, sale) => async (input, call, request) => {
    settler.assertConfigured()
    const accountId = await sale.account(input, call)
    const payload = parsePaymentHeader(request.headers)
    const { operation } = route
    const holder = await call.holder() // before the order is looked up, so that nothing is awaited between that and its claim
    const order = toOrder({ accountId, operation, request, identifier: payload?.identifier })
    const purchase: Purchase = {
      order,
      call,
      getQuote: async () => sale.quote(input, call),
      toOffer: (quote) => toOffer(quote, request),
      assertDeliverable: async (quote) => sale.assertDeliverable?.(quote.purchase, call),
    }
    const earlier = request.method === 'HEAD' ? undefined : await claims.findOrderByKey(order)
    if (earlier) return await resumeByKey(options, earlier, purchase)
    if (!payload || request.method === 'HEAD') {
      const unpaid = await purchase.getQuote()
      if (unpaid.resource && (await books.isLeased(unpaid.resource.name))) throw unpaid.resource.busyError()
      throw createPaymentRequiredError(purchase.toOffer(unpaid))
    }
    assertOwnWallet(holder, payload)
    return await pay(options, payload, purchase)
  }
}

/** Resumes the order of a reused key. Never settles another payment, even if the retry contains one. */
async function resumeByKey(
  { books, claims, work }: CheckoutOptions,
  earlier: PaymentRow,
  { call, getQuote, toOffer }: Purchase,
): Promise<PaymentResult> {
  const names = [toKeyString(earlier), ...toKeyNames(earlier)]
  claims.assertFree(names)
  const release = claims.claim(names)
  try {
    const row = await books.get(earlier.id) // as it is since it was claimed
    if (!row) throw createInFlightError()
    const result = await work.resume(row, { call, offer: async () => toOffer(await getQuote()), release })
    if ('answer' in result) call.setHeader('idempotent-replayed', 'true')
    return result
  } catch (error) {
    release()
    throw error
  }
}

/** Settles a payment once, or resumes it if it has settled or may have settled. */
async function pay(options: CheckoutOptions, payload: PaymentPayload, purchase: Purchase): Promise<PaymentResult> {
  const { books, claims, settler, work, now, steadyMs } = options
  const { order, call, getQuote, toOffer } = purchase
  const bound = toBoundRequest({ payload, order, lock: toLock(payload, settler.getNetwork()) })
  let quote: Quote<unknown> | undefined
  let refusal: Refusal | undefined
  claims.assertFree([toKeyString(bound)])
  if (!mayHavePaid(await claims.findPayment(bound))) {
    quote = await getQuote()
    const offer = toOffer(quote)
    refusal = findMismatch(payload, offer) ?? (await validateAuthorization(payload.authorization, offer, now()))
  }
  const names = [toKeyString(bound), ...toKeyNames(order)]
  // No `await` between here and the claim, so that only one of several concurrent copies continues.
  claims.assertFree(names)
  const release = claims.claim(names)
  const offer = async () => toOffer(quote ?? (await getQuote()))
  try {
    const row = await claims.findPayment(bound)
    if (quote && refusal && !mayHavePaid(row)) throw createPaymentRequiredError(toOffer(quote), refusal)
    const byKey = await claims.findOrderByKey(order)
    if (byKey && byKey.id !== row?.id) throw createInFlightError()
    if (row && mayHavePaid(row)) return await work.resume(row, { call, offer, release })
    const present = quote ?? (await getQuote())
    const fresh = createRow(bound, present, steadyMs())
    if (row) await books.drop(row.id)
    if (!(await books.open(fresh))) throw present.resource?.busyError() ?? createInFlightError()
    const settlement = await settler.verifyAndSettle(fresh, {
      offer: toOffer(present),
      assertDeliverable: () => purchase.assertDeliverable(present),
    })
    return await work.begin(fresh, settlement, { offer, release })
  } catch (error) {
    release()
    throw error
  }
}

function toLock(
  { authorization: { from: payer, nonce } }: PaymentPayload,
  { id, usdc }: Facilitator['network'],
): PaymentLock {
  return { network: id, asset: usdc.address.toLowerCase(), payer, nonce }
}

function createRow(
  bound: BoundRequest,
  { amount, purchase, resource, sandboxId }: Quote<unknown>,
  nowMs: number,
): PaymentRow {
  return {
    ...bound,
    id: `pay_${randomBytes(12).toString('hex')}`,
    amount,
    purchase,
    resource: resource?.name ?? null,
    sandboxId: sandboxId ?? null,
    ...{ state: 'verifying', work: 'none', transaction: null, answer: undefined, attempts: 0 },
    ...{ nextAtMs: nowMs, createdAtMs: nowMs },
  }
}
