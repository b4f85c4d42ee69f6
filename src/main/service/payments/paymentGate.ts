import { randomBytes } from 'node:crypto'
import type { Payment, PricedRequest, Price as RoutePrice, StoredAnswer } from '#platform/http/endpoint.ts'
import { UnclearWork } from '#platform/http/unclearWork.ts'
import { AppError } from '#shared/appError.ts'
import type { Route } from '#shared/contract/route.ts'
import { toMicroUsd } from '#shared/microUsd.ts'
import type { AnyCall, Endpoint } from '../base/endpoint.ts'
import { alreadyUsed, type Facilitator, type Settlement } from './facilitator.ts'
import { createPaymentRequiredError, createReceiptHeaders, type Offer } from './offer.ts'
import { type PaymentPayload, parsePaymentHeader } from './parsePaymentHeader.ts'
import { type Refusal, validateAuthorization } from './paymentAuthorization.ts'
import type { PaymentBooks } from './paymentBooks.ts'
import type { PaymentLock, PaymentRow } from './paymentRepository.ts'
import type { Paid, Quote, Sale } from './sale.ts'
import {
  assertOwnWallet,
  type BoundRequest,
  findMismatch,
  hasMoved,
  isSame,
  isSameOrder,
  type Order,
  toBoundRequest,
  toKeyNames,
  toKeyString,
  toOrder,
} from './toBoundRequest.ts'

/** Sells for USDC by x402: every payment settles once, and buys one product or becomes credits. */
export type PaymentGate = {
  sell<R extends Route, P>(route: R, access: Endpoint['access'], sale: Sale<R, P>): Endpoint
  /** Every route that is sold. @throws AppError `payments/unconfigured` */
  listPaidRoutes(): Route[]
  /**
   * Looks after a payment that no request is about now: settles what is unknown, ends work that was cut off.
   * @throws whatever keeps it from being finished now
   */
  lookAfter(payment: PaymentRow): Promise<void>
}

type AnySale = Sale<Route, unknown>

const retryAfterSeconds = 5

export function createPaymentGate(options: {
  books: PaymentBooks
  /** Absent: nothing is sold. */
  facilitator: Facilitator | undefined
  payTo: string
  /** Base URL of this service, no trailing slash. */
  baseUrl: () => string
  onFailure: (error: unknown) => void
  now: () => number
  /** For schedules of unfinished payments. Default: `now`. */
  steadyMs?: () => number
}): PaymentGate {
  const { books, facilitator, payTo, baseUrl, now, steadyMs = now } = options
  const sales = new Map<string, { route: Route; sale: AnySale }>()
  /** Locks of payments that a request, or we, are at. */
  const inFlight = new Set<string>()

  const requestSettlement = async (row: PaymentRow, again: boolean): Promise<Settlement> => {
    const { authorization, createdAtMs } = row
    if (facilitator?.network.id !== row.network) return { state: 'unknown', message: 'The network was changed.' }
    return facilitator.settle({ authorization, createdAtMs, again })
  }

  /** Ends work that was cut off. @throws whatever keeps it from knowing */
  const recoverWork = async (row: PaymentRow): Promise<StoredAnswer> => {
    const sold = sales.get(row.operation)
    const answer = await sold?.sale.recover(toSettled(row))
    if (!sold || answer === undefined) {
      const cutOff = new AppError('internal/unexpected', 'The service stopped before this was done.')
      return toStoredResponse(await books.credit(row, cutOff))
    }
    const response = { status: sold.route.status, body: JSON.stringify(answer) }
    await books.done(row.id, response)
    return response
  }

  /** Verifies and settles one of which nothing is known to have moved. */
  const verifyAndSettle = async (
    row: PaymentRow,
    { offer, assertDeliverable }: { offer: Offer; assertDeliverable: () => Promise<void> },
  ): Promise<Settlement> => {
    const { authorization, createdAtMs } = row
    let refusal: Refusal | undefined
    try {
      refusal = await facilitator?.verify({ authorization, createdAtMs, again: false })
    } catch (error) {
      await books.drop(row.id)
      options.onFailure(error)
      throw unknownOutcomeError('The payment could not be checked. Nothing was paid.')
    }
    if (refusal) {
      await books.drop(row.id)
      throw createPaymentRequiredError(offer, refusal)
    }
    try {
      await assertDeliverable()
    } catch (error) {
      await books.drop(row.id)
      throw error
    }
    await books.settling(row.id)
    return requestSettlement(row, false)
  }

  const toPayment = (row: PaymentRow, headers: Record<string, string>, release: () => void): Payment => ({
    settlement: toSettled(row),
    headers,
    async done(answer) {
      try {
        await books.done(row.id, answer)
      } finally {
        release()
      }
    },
    async fail(error) {
      try {
        if (error instanceof UnclearWork) return unknownOutcomeError(error.message)
        return await books.credit(row, toClientError(error, options.onFailure))
      } catch (unwritten) {
        options.onFailure(unwritten)
        return unknownOutcomeError('It was paid, and what became of the work could not be written down.')
      } finally {
        release()
      }
    },
  })

  /** Resumes a payment that settled, or may have: returns the first response, or completes the work. */
  const resumePayment = async (row: PaymentRow, { call, offer, release }: Resumed): Promise<Result> => {
    if (row.state !== 'settled' || row.transaction === null) {
      return finishWith(row, await requestSettlement(row, true), { offer, release })
    }
    const receipt = createReceipt(row, row.transaction)
    if (row.work === 'waiting') {
      await books.begin(row.id)
      return toPayment(row, receipt, release)
    }
    const answer = row.answer ?? (row.work === 'begun' ? await recoverWork(row) : undefined)
    if (!answer) throw alreadyUsedError()
    for (const [name, value] of Object.entries(receipt)) call.setHeader(name, value)
    release()
    return { answer }
  }

  const finishWith = async (
    row: PaymentRow,
    settlement: Settlement,
    { offer, release }: Pick<Resumed, 'offer' | 'release'>,
  ): Promise<Payment> => {
    await books.recordSettlement(row.id, settlement, 'begun')
    if (settlement.state === 'failed') throw createPaymentRequiredError(await offer(), settlement)
    if (settlement.state === 'unknown') throw unknownOutcomeError('Whether this payment was settled is not known yet.')
    const { transaction } = settlement
    return toPayment({ ...row, transaction }, createReceipt(row, transaction), release)
  }

  /** @throws AppError `request/reused-key` */
  const findOrderByKey = (order: Order): PaymentRow | undefined => {
    const { accountId, key } = order
    const row = key === undefined ? undefined : books.findByKey({ accountId, key })
    if (!row || isSameOrder(row, order)) return row
    throw new AppError('request/reused-key', 'This Idempotency-Key was used for another request.')
  }

  /** Resumes the order of a key that was used before. Never settles another payment, even if the retry contains one. */
  const resumeByKey = async (row: PaymentRow, options: Pick<Resumed, 'call' | 'offer'>): Promise<Result> => {
    const names = [toKeyString(row), ...toKeyNames(row)]
    if (names.some((it) => inFlight.has(it))) throw underWay()
    for (const name of names) inFlight.add(name)
    const release = () => {
      for (const name of names) inFlight.delete(name)
    }
    try {
      const result = await resumePayment(row, { ...options, release })
      if ('answer' in result) options.call.setHeader('idempotent-replayed', 'true')
      return result
    } catch (error) {
      release()
      throw error
    }
  }

  const createPrice =
    (route: Route, sale: AnySale): RoutePrice<AnyCall> =>
    async (input, call, pricedRequest) => {
      if (!facilitator) throw unconfiguredError()
      const accountId = sale.account(input, call)
      const getQuote = async () => sale.quote(input, call)
      const payload = parsePaymentHeader(pricedRequest.headers)
      const order = toOrder({
        accountId,
        operation: route.operation,
        request: pricedRequest,
        identifier: payload?.identifier,
      })
      const earlier = pricedRequest.method === 'HEAD' ? undefined : findOrderByKey(order)
      if (earlier)
        return await resumeByKey(earlier, {
          call,
          offer: async () => createRequirements(await getQuote(), pricedRequest),
        })
      if (!payload || pricedRequest.method === 'HEAD') {
        const unpaid = await getQuote()
        if (unpaid.resource && books.isLeased(unpaid.resource.name)) throw unpaid.resource.busyError()
        throw createPaymentRequiredError(createRequirements(unpaid, pricedRequest))
      }
      assertOwnWallet(call.holder(), payload)

      const bound = toBoundRequest({ payload, order, lock: toLock(payload) })
      const findExisting = () => {
        if (inFlight.has(toKeyString(bound))) throw underWay()
        const row = books.find(bound)
        if (row && !isSame(row, bound)) throw alreadyUsedError()
        return row
      }
      let quote: Quote<unknown> | undefined
      let refusal: Refusal | undefined
      if (!hasMoved(findExisting())) {
        quote = await getQuote()
        const offer = createRequirements(quote, pricedRequest)
        refusal = findMismatch(payload, offer) ?? (await validateAuthorization(payload.authorization, offer, now()))
      }
      // No await from here to the claim, so that only one of several copies continues.
      const row = findExisting()
      if (quote && refusal && !hasMoved(row))
        throw createPaymentRequiredError(createRequirements(quote, pricedRequest), refusal)
      const names = [toKeyString(bound), ...toKeyNames(order)]
      if (names.some((it) => inFlight.has(it)) || (findOrderByKey(order)?.id ?? row?.id) !== row?.id) throw underWay()
      for (const name of names) inFlight.add(name)
      const release = () => {
        for (const name of names) inFlight.delete(name)
      }
      const offer = async () => createRequirements(quote ?? (await getQuote()), pricedRequest)
      try {
        if (row && hasMoved(row)) return await resumePayment(row, { call, offer, release })
        const present = quote ?? (await getQuote())
        const fresh = newRow(bound, present)
        if (row) await books.drop(row.id)
        if (!(await books.open(fresh))) throw present.resource?.busyError() ?? underWay()
        const settlement = await verifyAndSettle(fresh, {
          offer: createRequirements(present, pricedRequest),
          assertDeliverable: async () => sale.assertDeliverable?.(present.purchase, call),
        })
        return await finishWith(fresh, settlement, { offer, release })
      } catch (error) {
        release()
        throw error
      }
    }

  const createRequirements = ({ amount, description }: Quote<unknown>, { path }: PricedRequest): Offer => ({
    network: getNetwork(facilitator),
    payTo,
    amount,
    description,
    resource: `${baseUrl()}${path}`,
  })
  const createReceipt = ({ authorization }: PaymentRow, transaction: string) =>
    createReceiptHeaders({ network: getNetwork(facilitator), transaction, authorization })

  const toLock = ({ authorization: { from: payer, nonce } }: PaymentPayload): PaymentLock => {
    const { id, usdc } = getNetwork(facilitator)
    return { network: id, asset: usdc.address.toLowerCase(), payer, nonce }
  }

  const newRow = (bound: BoundRequest, { amount, purchase, resource, sandboxId }: Quote<unknown>): PaymentRow => ({
    ...bound,
    id: `pay_${randomBytes(12).toString('hex')}`,
    amount,
    purchase,
    resource: resource?.name ?? null,
    sandboxId: sandboxId ?? null,
    ...{ state: 'verifying', work: 'none', transaction: null, answer: undefined, attempts: 0 },
    ...{ nextAtMs: steadyMs(), createdAtMs: steadyMs() },
  })

  return {
    sell(route, access, sale) {
      const any = sale as unknown as AnySale // it is only ever given what its own quote and route made
      sales.set(route.operation, { route, sale: any })
      return {
        route,
        access,
        price: createPrice(route, any),
        handle: (_input, _call, settlement) => any.fulfil(settlement as Paid<unknown>), // `toPayment` made it
      }
    },
    listPaidRoutes() {
      if (!facilitator) throw unconfiguredError()
      return [...sales.values()].filter(({ sale }) => sale.isOffered !== false).map(({ route }) => route)
    },
    async lookAfter({ id, payer, nonce, work }) {
      const name = toKeyString({ payer, nonce })
      if (inFlight.has(name)) return
      inFlight.add(name)
      try {
        // A request may have gone on with it since it was found.
        const row = books.get(id)
        if (row?.state === 'verifying') await books.drop(id)
        else if (row?.state === 'settled' && isCutOff(row, work)) await recoverWork(row)
        else if (row?.state === 'settling' || row?.state === 'unknown') {
          await books.recordSettlement(id, await requestSettlement(row, true), 'waiting')
        }
      } finally {
        inFlight.delete(name)
      }
    },
  }
}

/** Whether the payment was abandoned: no process works on it, and no client returned in time. */
function isCutOff({ work }: PaymentRow, before: PaymentRow['work']): boolean {
  return work === 'begun' || (work === 'waiting' && before === 'waiting')
}

type Result = Payment | { answer: StoredAnswer }
type Resumed = { call: AnyCall; offer: () => Promise<Offer>; release: () => void }

function toSettled({ id, payer, accountId, amount, transaction, purchase }: PaymentRow): Paid<unknown> {
  if (transaction === null) throw new Error(`The payment ${id} has no transaction.`)
  return { id, payer, accountId, amount: toMicroUsd(amount), transaction, purchase }
}

function getNetwork(facilitator: Facilitator | undefined): Facilitator['network'] {
  if (facilitator) return facilitator.network
  throw new Error('There is no facilitator.')
}

function toStoredResponse(error: AppError): StoredAnswer {
  return { status: error.status, body: JSON.stringify(error.toBody()) }
}

function toClientError(error: unknown, onFailure: (error: unknown) => void): AppError {
  if (error instanceof AppError) return error
  onFailure(error)
  return new AppError('internal/unexpected', 'Something unexpected went wrong in Steward.', { cause: error })
}

function unknownOutcomeError(message: string): AppError {
  return new AppError('payments/unknown', message, { retryAfterSeconds })
}

function unconfiguredError(): AppError {
  return new AppError('payments/unconfigured', 'This service takes no payments.')
}

function underWay(): AppError {
  const headers = { 'retry-after': '1' }
  return new AppError('payments/in-flight', 'This payment is being settled for another copy of the request.', {
    headers,
  })
}

function alreadyUsedError(): AppError {
  return new AppError('payments/used', 'This payment was used for another request.', { detail: alreadyUsed.message })
}
