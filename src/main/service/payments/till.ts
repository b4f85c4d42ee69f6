import { randomBytes } from 'node:crypto'
import type { KeptAnswer, Payment, PricedRequest, Price as RoutePrice } from '#platform/http/endpoint.ts'
import { UnclearWork } from '#platform/http/unclearWork.ts'
import { AppError } from '#shared/appError.ts'
import type { Route } from '#shared/contract/route.ts'
import { microUsd } from '#shared/microUsd.ts'
import type { AnyCall, Endpoint } from '../base/endpoint.ts'
import {
  type BoundRequest,
  boundRequest,
  hasMoved,
  isSame,
  isSameOrder,
  keyNames,
  nameOf,
  needOwnWallet,
  type Order,
  orderOf,
  unfit,
} from './boundRequest.ts'
import { alreadyUsed, type Facilitator, type Settlement } from './facilitator.ts'
import { type Offer, paymentRequired, receiptHeaders } from './offer.ts'
import { type Refusal, refusalOf } from './paymentAuthorization.ts'
import type { PaymentBooks } from './paymentBooks.ts'
import type { PaymentLock, PaymentRow } from './paymentRepository.ts'
import type { Paid, Quote, Sale } from './sale.ts'
import { type SentPayment, sentPayment } from './sentPayment.ts'

/** Where things are sold for USDC, by x402: every payment settles once, and buys one thing or becomes credits. */
export type Till = {
  sell<R extends Route, P>(route: R, access: Endpoint['access'], sale: Sale<R, P>): Endpoint
  /** Every route that is sold. @throws AppError `payments/unconfigured` */
  sold(): Route[]
  /**
   * Looks after a payment that no request is about now: settles what is unknown, ends work that was cut off.
   * @throws whatever keeps it from being finished now
   */
  lookAfter(payment: PaymentRow): Promise<void>
}

type AnySale = Sale<Route, unknown>

const retryAfterSeconds = 5

export function till(options: {
  books: PaymentBooks
  /** Absent: nothing is sold. */
  facilitator: Facilitator | undefined
  payTo: string
  /** Of this service, without a slash at the end. */
  baseUrl: () => string
  onFailure: (failure: unknown) => void
  now: () => number
  /** For schedules of unfinished payments. Default: `now`. */
  steadyMs?: () => number
}): Till {
  const { books, facilitator, payTo, baseUrl, now, steadyMs = now } = options
  const sales = new Map<string, { route: Route; sale: AnySale }>()
  /** Locks of payments that a request, or we, are at. */
  const inFlight = new Set<string>()

  const settlementOf = async (row: PaymentRow, again: boolean): Promise<Settlement> => {
    const { authorization, createdAtMs } = row
    if (facilitator?.network.id !== row.network) return { state: 'unknown', message: 'The network was changed.' }
    return facilitator.settle({ authorization, createdAtMs, again })
  }

  /** Ends work that was cut off. @throws whatever keeps it from knowing */
  const recovered = async (row: PaymentRow): Promise<KeptAnswer> => {
    const sold = sales.get(row.operation)
    const answer = await sold?.sale.recover(paidOf(row))
    if (!sold || answer === undefined) {
      const cutOff = new AppError('internal/unexpected', 'The service stopped before this was done.')
      return keptFailure(await books.credit(row, cutOff))
    }
    const kept = { status: sold.route.status, body: JSON.stringify(answer) }
    await books.done(row.id, kept)
    return kept
  }

  /** Verifies and settles one of which nothing is known to have moved. */
  const settledAnew = async (
    row: PaymentRow,
    { offer, assertDeliverable }: { offer: Offer; assertDeliverable: () => Promise<void> },
  ): Promise<Settlement> => {
    const { authorization, createdAtMs } = row
    let refusal: Refusal | undefined
    try {
      refusal = await facilitator?.verify({ authorization, createdAtMs, again: false })
    } catch (failure) {
      await books.drop(row.id)
      options.onFailure(failure)
      throw unknownOutcome('The payment could not be checked. Nothing was paid.')
    }
    if (refusal) {
      await books.drop(row.id)
      throw paymentRequired(offer, refusal)
    }
    try {
      await assertDeliverable()
    } catch (failure) {
      await books.drop(row.id)
      throw failure
    }
    await books.settling(row.id)
    return settlementOf(row, false)
  }

  const paymentOf = (row: PaymentRow, headers: Record<string, string>, release: () => void): Payment => ({
    settlement: paidOf(row),
    headers,
    async done(answer) {
      try {
        await books.done(row.id, answer)
      } finally {
        release()
      }
    },
    async failed(failure) {
      try {
        if (failure instanceof UnclearWork) return unknownOutcome(failure.message)
        return await books.credit(row, toldFailure(failure, options.onFailure))
      } catch (unwritten) {
        options.onFailure(unwritten)
        return unknownOutcome('It was paid, and what became of the work could not be written down.')
      } finally {
        release()
      }
    },
  })

  /** Of one that was settled, or may have been: the first answer, or the work that is still to be done. */
  const resumed = async (row: PaymentRow, { call, offer, release }: Resumed): Promise<Result> => {
    if (row.state !== 'settled' || row.transaction === null) {
      return endedWith(row, await settlementOf(row, true), { offer, release })
    }
    const receipt = receiptOf(row, row.transaction)
    if (row.work === 'waiting') {
      await books.begin(row.id)
      return paymentOf(row, receipt, release)
    }
    const answer = row.answer ?? (row.work === 'begun' ? await recovered(row) : undefined)
    if (!answer) throw used()
    for (const [name, value] of Object.entries(receipt)) call.setHeader(name, value)
    release()
    return { answer }
  }

  const endedWith = async (
    row: PaymentRow,
    settlement: Settlement,
    { offer, release }: Pick<Resumed, 'offer' | 'release'>,
  ): Promise<Payment> => {
    await books.ended(row.id, settlement, 'begun')
    if (settlement.state === 'failed') throw paymentRequired(await offer(), settlement)
    if (settlement.state === 'unknown') throw unknownOutcome('Whether this payment was settled is not known yet.')
    const { transaction } = settlement
    return paymentOf({ ...row, transaction }, receiptOf(row, transaction), release)
  }

  /** @throws AppError `request/reused-key` */
  const findOrderByKey = (order: Order): PaymentRow | undefined => {
    const { accountId, key } = order
    const row = key === undefined ? undefined : books.findByKey({ accountId, key })
    if (!row || isSameOrder(row, order)) return row
    throw new AppError('request/reused-key', 'This Idempotency-Key was used for another request.')
  }

  /** Resumes the order of a key that was used before. Never settles another payment, even if the retry contains one. */
  const resumeByKey = async (row: PaymentRow, given: Pick<Resumed, 'call' | 'offer'>): Promise<Result> => {
    const names = [nameOf(row), ...keyNames(row)]
    if (names.some((it) => inFlight.has(it))) throw underWay()
    for (const name of names) inFlight.add(name)
    const release = () => {
      for (const name of names) inFlight.delete(name)
    }
    try {
      const result = await resumed(row, { ...given, release })
      if ('answer' in result) given.call.setHeader('idempotent-replayed', 'true')
      return result
    } catch (failure) {
      release()
      throw failure
    }
  }

  const priceOf =
    (route: Route, sale: AnySale): RoutePrice<AnyCall> =>
    async (input, call, asked) => {
      if (!facilitator) throw unconfigured()
      const accountId = sale.account(input, call)
      const quoted = async () => sale.quote(input, call)
      const sent = sentPayment(asked.headers)
      const order = orderOf({ accountId, operation: route.operation, asked, identifier: sent?.identifier })
      const earlier = asked.method === 'HEAD' ? undefined : findOrderByKey(order)
      if (earlier) return await resumeByKey(earlier, { call, offer: async () => offerOf(await quoted(), asked) })
      if (!sent || asked.method === 'HEAD') {
        const unpaid = await quoted()
        if (unpaid.resource && books.isLeased(unpaid.resource.name)) throw unpaid.resource.busyError()
        throw paymentRequired(offerOf(unpaid, asked))
      }
      needOwnWallet(call.holder(), sent)

      const bound = boundRequest({ sent, order, lock: lockOf(sent) })
      const known = () => {
        if (inFlight.has(nameOf(bound))) throw underWay()
        const row = books.find(bound)
        if (row && !isSame(row, bound)) throw used()
        return row
      }
      let quote: Quote<unknown> | undefined
      let refusal: Refusal | undefined
      if (!hasMoved(known())) {
        quote = await quoted()
        const offer = offerOf(quote, asked)
        refusal = unfit(sent, offer) ?? (await refusalOf(sent.authorization, offer, now()))
      }
      // From here to the claim nothing waits, so that of many copies one goes on.
      const row = known()
      if (quote && refusal && !hasMoved(row)) throw paymentRequired(offerOf(quote, asked), refusal)
      const names = [nameOf(bound), ...keyNames(order)]
      if (names.some((it) => inFlight.has(it)) || (findOrderByKey(order)?.id ?? row?.id) !== row?.id) throw underWay()
      for (const name of names) inFlight.add(name)
      const release = () => {
        for (const name of names) inFlight.delete(name)
      }
      const offer = async () => offerOf(quote ?? (await quoted()), asked)
      try {
        if (row && hasMoved(row)) return await resumed(row, { call, offer, release })
        const present = quote ?? (await quoted())
        const fresh = newRow(bound, present)
        if (row) await books.drop(row.id)
        if (!(await books.open(fresh))) throw present.resource?.busyError() ?? underWay()
        const settlement = await settledAnew(fresh, {
          offer: offerOf(present, asked),
          assertDeliverable: async () => sale.assertDeliverable?.(present.purchase, call),
        })
        return await endedWith(fresh, settlement, { offer, release })
      } catch (failure) {
        release()
        throw failure
      }
    }

  const offerOf = ({ amount, description }: Quote<unknown>, { path }: PricedRequest): Offer => ({
    network: networkOf(facilitator),
    payTo,
    amount,
    description,
    resource: `${baseUrl()}${path}`,
  })
  const receiptOf = ({ authorization }: PaymentRow, transaction: string) =>
    receiptHeaders({ network: networkOf(facilitator), transaction, authorization })

  const lockOf = ({ authorization: { from: payer, nonce } }: SentPayment): PaymentLock => {
    const { id, usdc } = networkOf(facilitator)
    return { network: id, asset: usdc.address.toLowerCase(), payer, nonce }
  }

  const newRow = (bound: BoundRequest, { amount, purchase, resource }: Quote<unknown>): PaymentRow => ({
    ...bound,
    id: `pay_${randomBytes(12).toString('hex')}`,
    amount,
    purchase,
    resource: resource?.name ?? null,
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
        price: priceOf(route, any),
        handle: (_input, _call, settlement) => any.fulfil(settlement as Paid<unknown>), // `paymentOf` made it
      }
    },
    sold() {
      if (!facilitator) throw unconfigured()
      return [...sales.values()].filter(({ sale }) => sale.isOffered !== false).map(({ route }) => route)
    },
    async lookAfter({ id, payer, nonce, work }) {
      const name = nameOf({ payer, nonce })
      if (inFlight.has(name)) return
      inFlight.add(name)
      try {
        // A request may have gone on with it since it was found.
        const row = books.get(id)
        if (row?.state === 'verifying') await books.drop(id)
        else if (row?.state === 'settled' && isCutOff(row, work)) await recovered(row)
        else if (row?.state === 'settling' || row?.state === 'unknown') {
          await books.ended(id, await settlementOf(row, true), 'waiting')
        }
      } finally {
        inFlight.delete(name)
      }
    },
  }
}

/** Nobody works on it, and nobody came back for it in time. */
function isCutOff({ work }: PaymentRow, before: PaymentRow['work']): boolean {
  return work === 'begun' || (work === 'waiting' && before === 'waiting')
}

type Result = Payment | { answer: KeptAnswer }
type Resumed = { call: AnyCall; offer: () => Promise<Offer>; release: () => void }

function paidOf({ id, payer, accountId, amount, transaction, purchase }: PaymentRow): Paid<unknown> {
  if (transaction === null) throw new Error(`The payment ${id} has no transaction.`)
  return { id, payer, accountId, amount: microUsd(amount), transaction, purchase }
}

function networkOf(facilitator: Facilitator | undefined): Facilitator['network'] {
  if (facilitator) return facilitator.network
  throw new Error('There is no facilitator.')
}

function keptFailure(failure: AppError): KeptAnswer {
  return { status: failure.status, body: JSON.stringify(failure.toBody()) }
}

function toldFailure(failure: unknown, onFailure: (failure: unknown) => void): AppError {
  if (failure instanceof AppError) return failure
  onFailure(failure)
  return new AppError('internal/unexpected', 'Something unexpected went wrong in Steward.', { cause: failure })
}

function unknownOutcome(message: string): AppError {
  return new AppError('payments/unknown', message, { retryAfterSeconds })
}

function unconfigured(): AppError {
  return new AppError('payments/unconfigured', 'This service takes no payments.')
}

function underWay(): AppError {
  const headers = { 'retry-after': '1' }
  return new AppError('payments/in-flight', 'This payment is being settled for another copy of the request.', {
    headers,
  })
}

function used(): AppError {
  return new AppError('payments/used', 'This payment was used for another request.', { detail: alreadyUsed.message })
}
