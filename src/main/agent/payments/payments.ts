import { createHash } from 'node:crypto'
import { AppError } from '#shared/appError.ts'
import type { IntentRecord, Requester } from '#shared/contract/intents.ts'
import type { PaymentCheck } from '#shared/contract/localPayments.ts'
import type { PaymentId, PaymentReceipt } from '#shared/contract/paymentRecords.ts'
import { toIsoTime } from '#shared/time.ts'
import type { Approvals, SubmitRequest } from '../approvals/approvals.ts'
import type { IdempotentSubmissions } from '../approvals/idempotentSubmissions.ts'
import type { LocalCall } from '../base/localEndpoint.ts'
import type { PaymentBudgets } from '../budgets/paymentBudgets.ts'
import { createStoredPayment } from './createStoredPayment.ts'
import { createFinalStateWait } from './finalStateWait.ts'
import { findPurchase } from './findPurchase.ts'
import { createPaymentCheck } from './paymentCheck.ts'
import type { PaymentJournal } from './paymentJournal.ts'
import { createPaymentPayload } from './paymentPayload.ts'
import { assertPrice, type PurchaseRequest, requirePayableOption, toIntent } from './paymentPlan.ts'
import type { PaymentReconciler } from './paymentReconciler.ts'
import type { PaymentRepository, StoredPayment } from './paymentRepository.ts'
import {
  createPaymentRequirementsReader,
  type DemandOptions,
  type PaymentRequirementsReader,
} from './paymentRequirementsReader.ts'
import type { TransientHeaders } from './paymentSubmitter.ts'
import type { Seller, SellerResponse } from './seller.ts'
import { createSigningCheck } from './signingCheck.ts'
import type { SigningClock } from './signingClock.ts'

type Call = Pick<LocalCall, 'requester' | 'repeatable' | 'setHeader' | 'signal' | 'spender'>
export type BuyOptions = {
  reason: string | undefined
  waitMs: number
  /** Runs in the transaction that stores the intent. */
  onStored?: (intent: IntentRecord) => void
}
export type PurchaseResult = { payment: StoredPayment } | { payment: null; answer: SellerResponse }

/** Pays for a resource once: request without payment, offer, approval, signature, same request with payment. */
export type Payments = {
  /**
   * @returns the payment after at most `waitMs`, or the response if the resource was free
   * @throws AppError if nothing was signed and nothing will be
   */
  buy(getRequest: () => Promise<PurchaseRequest>, call: Call, options: BuyOptions): Promise<PurchaseResult>
  /** Returns the cost and the policy evaluation without signing. */
  check(request: PurchaseRequest, requester: Requester, signal: AbortSignal): Promise<PaymentCheck>
  /** Resolves when the state is final or the time is up. @throws AppError `purchase/not-found` */
  waitUntilSettled(id: PaymentId, options: { waitMs: number; signal: AbortSignal }): Promise<StoredPayment>
  /** Handles decisions made before the start. */
  start(): void
  /** @returns undefined if the intent was deleted */
  findIntent(id: string): IntentRecord | undefined
  /**
   * Checks right before signing that Steward's service still sells the item at the same price, and that the clock is
   * correct unless a seller's clock was compared recently. Checks that cannot be completed are skipped.
   * @throws AppError if the payment must not be signed
   */
  checkBeforeSigning(intent: IntentRecord): Promise<void>
  onIntent(record: IntentRecord): void
  close(): void
}

type Options = DemandOptions & {
  payments: PaymentRepository
  journal: PaymentJournal
  approvals: Pick<Approvals, 'get' | 'preview'>
  ask: (request: SubmitRequest) => Promise<IntentRecord>
  repeats: IdempotentSubmissions
  budgets: PaymentBudgets
  follower: Pick<PaymentReconciler, 'follow' | 'plan'>
  transientHeaders: TransientHeaders
  /** Identifier of the connected service in the journal. */
  service: string
  ownService: () => Seller | undefined
  clock: SigningClock
  newId: () => PaymentId
  now: () => number
  wallNow?: () => number
}

/** Thrown if the resource is free, so that nothing is stored or repeated. */
class NothingToPay extends Error {
  readonly answer: SellerResponse
  constructor(answer: SellerResponse) {
    super('No payment was required.')
    this.answer = answer
  }
}

export function createPayments(options: Options): Payments {
  const { approvals, journal, follower, now } = options
  const rows = options.payments
  const demands = createPaymentRequirementsReader(options)
  const applyIntent = createIntentHandler(options)
  const settlement = createFinalStateWait((id) => {
    const payment = rows.find(id)
    if (payment) return payment
    throw new AppError('purchase/not-found', `There is no payment ${id}.`)
  })
  let closed = false

  const findIntent = (id: string | null): IntentRecord | undefined => {
    try {
      return id === null ? undefined : approvals.get(id)
    } catch (error) {
      if (error instanceof AppError && error.code === 'intent/not-found') return undefined
      throw error
    }
  }
  const onIntent = (intent: IntentRecord): void => {
    if (!closed) applyIntent(intent)
  }
  const submit = createSubmission(options, { demands, onIntent })
  const unsubscribe = journal.subscribe(() => {
    settlement.update()
    follower.plan()
  })

  return {
    async buy(getRequest, call, { reason, waitMs, onStored: also }) {
      try {
        const intentId = await options.repeats.once(call, async (repeated) => {
          const onStored: OnStored = (record) => {
            repeated(record)
            also?.(record)
          }
          const { id } = await submit(await getRequest(), call, { reason, onStored })
          return id
        })
        const payment = rows.ofIntent(intentId)
        if (!payment) throw new AppError('purchase/not-found', 'The payment for this request was deleted.')
        return { payment: await settlement.wait(payment.record.id, { waitMs, signal: call.signal }) }
      } catch (error) {
        if (error instanceof NothingToPay) return { payment: null, answer: error.answer }
        throw error
      }
    },
    check: createPaymentCheck({ demands, budgets: options.budgets, approvals }),
    waitUntilSettled: settlement.wait,
    findIntent,
    start() {
      for (const { record } of rows.listUnsigned()) {
        const intent = findIntent(record.intent_id)
        if (intent) onIntent(intent)
        else
          journal.transition(record.id, 'refused', { paid: false, error: 'Its request was deleted.', nextAtMs: null })
      }
    },
    checkBeforeSigning: createSigningCheck({ ...options, now: options.wallNow ?? now }),
    onIntent,
    close() {
      closed = true
      unsubscribe()
      settlement.close()
    },
  }
}

/**
 * Creates the function that sends the request without payment and submits the intent. It returns the intent or throws
 * `NothingToPay`.
 */
function createSubmission(
  options: Options,
  { demands, onIntent }: { demands: PaymentRequirementsReader; onIntent: Payments['onIntent'] },
) {
  const { journal, budgets, transientHeaders, service, isOwnService, newId, now } = options
  return async (
    request: PurchaseRequest,
    call: Call,
    context: { reason: string | undefined; onStored: OnStored },
  ): Promise<IntentRecord> => {
    const answer = await demands.requestUnpaid(request, call.signal)
    if (answer.status !== 402) throw new NothingToPay(answer)
    const { host } = new URL(request.url)
    const choice = requirePayableOption(demands.parse(answer, request), host)
    const { network } = choice.chosen.offer
    if (request.via === 'public') await options.clock.assertAtSeller(answer, { host, network })
    const amount = assertPrice(choice, request)
    demands.assertBudgets(choice, host, amount)
    await demands.assertAllowance(choice)
    const isCapped =
      request.capMicroUsd !== null ||
      request.quote !== null ||
      call.spender?.isLimited === true ||
      budgets.limits().payment_micro_usd !== null
    let payment: StoredPayment | undefined
    const intent = await options.ask({
      intent: toIntent(choice, request),
      requester: call.requester,
      reason: context.reason,
      purchase: request.purchase ?? (isOwnService(request.url) ? findPurchase(request.request) : undefined),
      needsPerson: !isCapped,
      onStored(record) {
        const id = newId()
        payment = createStoredPayment(request, choice, { id, intent: record, service, timestamp: toIsoTime(now()) })
        if (!payment.request.complete) transientHeaders.set(id, request.request.headers)
        journal.add(payment)
        if (payment.record.paid === null) call.spender?.attach({ id, amountMicroUsd: amount })
        context.onStored(record)
      },
    })
    if (payment) journal.notify(payment)
    onIntent(intent)
    return intent
  }
}

/** Creates the handler that applies the state of an intent to its payment, and sends signed payments. */
function createIntentHandler({ payments, journal, follower, now }: Options): (intent: IntentRecord) => void {
  const sign = (payment: StoredPayment, { result }: IntentRecord): void => {
    const { id, offer, url } = payment.record
    if (!result?.authorization) throw new Error(`The payment ${id} was signed without an authorization.`)
    const signed = journal.transition(id, 'signed', {
      payload: createPaymentPayload({
        ...{ version: offer.x402_version, raw: payment.raw, url, result },
        identifier: { declared: payment.request.identifier, id },
      }),
      signature_sha256: createHash('sha256').update(result.signature).digest('hex'),
      valid_until: toIsoTime(Number(result.authorization.validBefore) * 1000),
      nextAtMs: now(),
    })
    if (signed) void follower.follow(id)
  }
  return (intent) => {
    if (intent.kind !== 'x402.authorize') return
    const payment = payments.ofIntent(intent.id)
    const state = payment?.record.state
    if (!payment || (state !== 'planned' && state !== 'waiting')) return
    const { id } = payment.record
    if (intent.state === 'signed') sign(payment, intent)
    else if (intent.state === 'waiting') journal.transition(id, 'waiting', { nextAtMs: null })
    else if (intent.state === 'approved') journal.transition(id, 'planned', { nextAtMs: null })
    else journal.transition(id, 'refused', { paid: false, error: intent.error, nextAtMs: null })
  }
}

type OnStored = (record: IntentRecord) => void

/** Converts a payment with its response to the format of the local API. */
export function toReceipt({ record, answer }: StoredPayment): PaymentReceipt {
  return { ...record, answer }
}
