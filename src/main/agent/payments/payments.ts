import { createHash } from 'node:crypto'
import { parseJsonOrUndefined } from '#platform/parseJsonOrUndefined.ts'
import { AppError } from '#shared/appError.ts'
import type { Asker, IntentRecord } from '#shared/contract/intents.ts'
import type { PaymentCheck } from '#shared/contract/localPayments.ts'
import { normalizeAddress, usdcDecimals } from '#shared/contract/networks.ts'
import type { PaymentId, PaymentReceipt } from '#shared/contract/paymentRecords.ts'
import { toIsoTime } from '#shared/time.ts'
import { formatTokenAmount } from '#shared/tokenAmount.ts'
import type { Approvals, AskRequest } from '../approvals/approvals.ts'
import type { RepeatedAsks } from '../approvals/rememberSubmissions.ts'
import type { LocalCall } from '../base/localEndpoint.ts'
import { toServiceError } from '../base/serviceRefusal.ts'
import type { PaymentBudgetRepository } from '../budgets/paymentBudgetRepository.ts'
import type { PaymentBudgets } from '../budgets/paymentBudgets.ts'
import { describePaymentState } from './describePayment.ts'
import type { PaymentFollower } from './paymentFollower.ts'
import type { PaymentJournal } from './paymentJournal.ts'
import { createPaymentPayload } from './paymentPayload.ts'
import {
  type Choice,
  checkPrice,
  type PurchaseRequest,
  parsePaymentRequired,
  requirePayableOption,
  toIntent,
} from './paymentPlan.ts'
import type { PaymentRepository, StoredPayment } from './paymentRepository.ts'
import type { TransientHeaders } from './paymentSending.ts'
import { isFinal } from './paymentStates.ts'
import { findPurchase } from './requestPurchase.ts'
import { isCredential, type Seller, type SellerAnswer } from './seller.ts'
import { createSigningCheck } from './signingCheck.ts'
import type { SigningClock } from './signingClock.ts'

type Call = Pick<LocalCall, 'asker' | 'repeatable' | 'setHeader' | 'signal' | 'spender'>
export type BuyOptions = {
  reason: string | undefined
  waitMs: number
  /** Keeps what belongs to it in the transaction that keeps the intent. */
  alongside?: (intent: IntentRecord) => void
}
export type Bought = { payment: StoredPayment } | { payment: null; answer: SellerAnswer }

/** Pays for a resource once: request without a payment, offer, approval, signature, same request with the payment. */
export type Payments = {
  /**
   * @returns the payment as it is after `waitMs` at most, or the answer where it was free
   * @throws AppError where nothing was signed and nothing will be
   */
  buy(getRequest: () => Promise<PurchaseRequest>, call: Call, options: BuyOptions): Promise<Bought>
  /** Returns the cost and the policy's verdict without signing. */
  check(request: PurchaseRequest, asker: Asker, signal: AbortSignal): Promise<PaymentCheck>
  /** As soon as its state is final, or when the time is up. @throws AppError `payment/not-found` */
  waitUntilSettled(id: PaymentId, options: { waitMs: number; signal: AbortSignal }): Promise<StoredPayment>
  /** Handles decisions made before the start. */
  start(): void
  /** @returns undefined for an intent that was deleted */
  findIntent(id: string): IntentRecord | undefined
  /**
   * Checks right before a signature that the own service still sells what was offered, and for the same price, and that
   * the clock is right where no seller was asked just now. What cannot be found out changes nothing.
   * @throws AppError where nothing may be signed
   */
  checkBeforeSigning(intent: IntentRecord): Promise<void>
  /** Handles a changed intent. */
  onIntent(record: IntentRecord): void
  close(): void
}

type Options = {
  payments: PaymentRepository
  journal: PaymentJournal
  approvals: Pick<Approvals, 'get' | 'foresee'>
  ask: (request: AskRequest) => Promise<IntentRecord>
  repeats: RepeatedAsks
  budgets: PaymentBudgets
  payees: Pick<PaymentBudgetRepository, 'findPayee'>
  follower: Pick<PaymentFollower, 'follow' | 'plan'>
  transientHeaders: TransientHeaders
  /** Name of the connected service in the journal. */
  service: string
  isOwnService: (url: string) => boolean
  /** Whether the wallet has an account on Solana. */
  hasSolana: () => boolean
  /** Allowance of Permit2 for the paying account on this network, in atomic units of USDC; undefined if unknown. */
  permitAllowance: (network: string) => Promise<bigint | undefined>
  /** Own service, or undefined while it is not connected. */
  ownService: () => Seller | undefined
  clock: SigningClock
  newId: () => PaymentId
  now: () => number
  wallNow?: () => number
}

/** Thrown when the resource is free: nothing is stored or repeated. */
class NothingToPay extends Error {
  readonly answer: SellerAnswer
  constructor(answer: SellerAnswer) {
    super('It was free.')
    this.answer = answer
  }
}

export function createPayments(options: Options): Payments {
  const { journal, approvals, budgets, follower, isOwnService, newId, now } = options
  const rows = options.payments
  const waiting = new Set<() => void>()
  let closed = false

  const requirePayment = (id: string): StoredPayment => {
    const payment = rows.find(id)
    if (payment) return payment
    throw new AppError('payment/not-found', `There is no payment ${id}.`)
  }
  const parseHost = (url: string): string => new URL(url).host
  const getPayer = ({ url }: PurchaseRequest) => ({ isOwnService: isOwnService(url), hasSolana: options.hasSolana() })

  /** @throws AppError `payment/payee` if this host was paid at another payee before, `budget/exceeded` */
  const checkBudgets = ({ chosen }: Choice, host: string, amount: number): void => {
    const { network, pay_to } = chosen.offer
    const payTo = normalizeAddress(pay_to)
    const earlierPayee = options.payees.findPayee(host, network)
    if (earlierPayee !== undefined && earlierPayee !== payTo) {
      throw new AppError('payment/payee', `${host} was paid at ${earlierPayee} before, and now names ${pay_to}.`)
    }
    const use = { host, scope: `${network}:${payTo}`, amountMicroUsd: BigInt(amount), by: 'person' } as const
    const refusal = budgets.refusal(use)
    if (refusal?.effect === 'deny') throw new AppError('budget/exceeded', `Not paid: ${refusal.detail}`)
  }

  /** Permit2 moves what its owner allowed it to, once, by a transaction. @throws AppError `payment/allowance` */
  const checkAllowance = async ({ chosen: { facilitator, offer, network } }: Choice): Promise<void> => {
    if (facilitator === undefined) return
    const allowed = await options.permitAllowance(offer.network)
    if (allowed !== undefined && allowed >= BigInt(offer.amount)) return
    const networkName = network?.name ?? offer.network
    throw new AppError(
      'payment/allowance',
      allowed === undefined
        ? `Steward could not check on ${networkName} whether Permit2 may move your USDC, which “upto” needs.`
        : `Your account has not allowed Permit2 to move ${formatTokenAmount(BigInt(offer.amount), usdcDecimals)} USDC on ${networkName}, which “upto” needs.`,
    )
  }

  const newPayment = (
    purchase: PurchaseRequest,
    { chosen }: Choice,
    intent: IntentRecord,
    id: PaymentId,
  ): StoredPayment => {
    const { offer, raw, network, identifier } = chosen
    const { request, via, url, purpose, title, quote } = purchase
    const timestamp = toIsoTime(now())
    const state = intent.state === 'denied' ? 'refused' : intent.state === 'waiting' ? 'waiting' : 'planned'
    const paid = state === 'refused' ? false : null
    const scheme = chosen.facilitator === undefined ? ('exact' as const) : ('upto' as const)
    const headers = Object.entries(request.headers)
    const storedHeaders = headers.filter(([name]) => !isCredential(name))
    if (storedHeaders.length < headers.length) options.transientHeaders.set(id, request.headers)
    const record = {
      ...{ id, state, paid, purpose, title, url, quote, offer, asker: intent.asker, reason: intent.reason },
      sentence: describePaymentState({ state, paid, amount: offer.amount, test: offer.test, scheme }),
      error: state === 'refused' ? intent.error : null,
      ...{ method: request.method, host: parseHost(url), scheme },
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
        ...{ via, service: via === 'service' ? options.service : '', method: request.method, url: request.url },
        headers: Object.fromEntries(storedHeaders),
        ...(request.body !== undefined && { body: request.body }),
        complete: storedHeaders.length === headers.length,
        ...(identifier && { identifier }),
      },
      raw: { ...raw },
      ...{ payload: null, attempts: 0, nextAtMs: null, answer: null },
    }
  }

  /** Asks without a payment, and then the wallet. @returns the intent */
  const begun = async (
    request: PurchaseRequest,
    call: Call,
    context: { reason: string | undefined; alongside: Alongside },
  ) => {
    const answer = await unpaid(request, call.signal)
    if (answer.status !== 402) throw new NothingToPay(answer)
    const host = parseHost(request.url)
    const choice = requirePayableOption(parsePaymentRequired(answer, getPayer(request)), host)
    const { network } = choice.chosen.offer
    if (request.via === 'public') await options.clock.assertAtSeller(answer, { host, network })
    const amount = checkPrice(choice, request)
    checkBudgets(choice, host, amount)
    await checkAllowance(choice)
    const isCapped =
      request.capMicroUsd !== null ||
      request.quote !== null ||
      call.spender?.isLimited === true ||
      budgets.limits().payment_micro_usd !== null
    let payment: StoredPayment | undefined
    const intent = await options.ask({
      intent: toIntent(choice, request),
      asker: call.asker,
      reason: context.reason,
      purchase: request.purchase ?? (isOwnService(request.url) ? findPurchase(request.request) : undefined),
      needsPerson: !isCapped,
      alongside(record) {
        payment = newPayment(request, choice, record, newId())
        journal.add(payment)
        if (payment.record.paid === null) call.spender?.attach({ id: payment.record.id, amountMicroUsd: amount })
        context.alongside(record)
      },
    })
    if (payment) journal.tell(payment)
    onIntent(intent)
    return intent
  }

  const sign = (payment: StoredPayment, { result }: IntentRecord): void => {
    const { id, offer, url } = payment.record
    if (!result?.authorization) throw new Error(`The payment ${id} was signed without an authorization.`)
    const signed = journal.become(id, 'signed', {
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

  const onIntent = (intent: IntentRecord): void => {
    if (closed || intent.kind !== 'x402.authorize') return
    const payment = rows.ofIntent(intent.id)
    const state = payment?.record.state
    if (!payment || (state !== 'planned' && state !== 'waiting')) return
    const { id } = payment.record
    if (intent.state === 'signed') sign(payment, intent)
    else if (intent.state === 'waiting') journal.become(id, 'waiting', { nextAtMs: null })
    else if (intent.state === 'approved') journal.become(id, 'planned', { nextAtMs: null })
    else journal.become(id, 'refused', { paid: false, error: intent.error, nextAtMs: null })
  }

  const leaveJournal = journal.subscribe(() => {
    for (const look of waiting) look()
    follower.plan()
  })
  const waitUntilSettled: Payments['waitUntilSettled'] = async (id, { waitMs, signal }) => {
    const isDone = () => closed || isFinal(requirePayment(id).record.state)
    if (waitMs > 0 && !isDone() && !signal.aborted) {
      await new Promise<void>((resolve) => {
        const end = (): void => {
          clearTimeout(timer)
          waiting.delete(look)
          signal.removeEventListener('abort', end)
          resolve()
        }
        const look = () => {
          if (isDone()) end()
        }
        const timer = setTimeout(end, waitMs)
        signal.addEventListener('abort', end)
        waiting.add(look)
      })
    }
    if (closed) throw new AppError('service/unavailable', 'Steward is shutting down.')
    return requirePayment(id)
  }

  return {
    async buy(getRequest, call, { reason, waitMs, alongside: also }) {
      try {
        const intentId = await options.repeats.once(call, async (repeated) => {
          const alongside: Alongside = (intent) => {
            repeated(intent)
            also?.(intent)
          }
          const { id } = await begun(await getRequest(), call, { reason, alongside })
          return id
        })
        const payment = rows.ofIntent(intentId)
        if (!payment) throw new AppError('payment/not-found', 'The payment of this request was deleted.')
        return { payment: await waitUntilSettled(payment.record.id, { waitMs, signal: call.signal }) }
      } catch (error) {
        if (error instanceof NothingToPay) return { payment: null, answer: error.answer }
        throw error
      }
    },
    async check(request, asker, signal) {
      const answer = await unpaid(request, signal)
      const { method } = request.request
      const result = { url: request.url, method, status: answer.status }
      if (answer.status !== 402) {
        return { ...result, needs_payment: false, offers: [], chosen: null, verdict: null, budgets: [] }
      }
      const demand = parsePaymentRequired(answer, getPayer(request))
      const offers = demand.offers.map(({ offer }) => offer)
      const { choice } = demand
      if (!choice) {
        const detail = offers.length === 0 ? 'It asks in a form that is not x402.' : 'None of its offers can be paid.'
        return {
          ...result,
          needs_payment: true,
          offers,
          chosen: null,
          verdict: { effect: 'refuse', detail },
          budgets: [],
        }
      }
      const { network, pay_to } = choice.chosen.offer
      const target = { host: parseHost(request.url), scope: `${network}:${normalizeAddress(pay_to)}` }
      const verdict = await verdictOn(request, choice, asker, target)
      const states = budgets.statesFor(target)
      return { ...result, needs_payment: true, offers, chosen: choice.index, verdict, budgets: states }
    },
    waitUntilSettled,
    findIntent,
    start() {
      for (const { record } of rows.listUndecided()) {
        const intent = findIntent(record.intent_id)
        if (intent) onIntent(intent)
        else journal.become(record.id, 'refused', { paid: false, error: 'Its request was deleted.', nextAtMs: null })
      }
    },
    checkBeforeSigning: createSigningCheck({ ...options, now: options.wallNow ?? now }),
    onIntent,
    close() {
      closed = true
      leaveJournal()
      for (const look of [...waiting]) look()
    },
  }

  async function verdictOn(
    request: PurchaseRequest,
    choice: Choice,
    asker: Asker,
    target: { host: string; scope: string },
  ) {
    const amount = BigInt(choice.chosen.offer.amount)
    const refusal = budgets.refusal({ ...target, amountMicroUsd: amount, by: 'policy' })
    if (refusal?.effect === 'deny') return { effect: 'refuse' as const, detail: refusal.detail }
    try {
      await checkAllowance(choice)
      const verdict = await approvals.foresee({ intent: toIntent(choice, request), asker })
      if (verdict.effect === 'deny') return { effect: 'refuse' as const, detail: verdict.detail }
      if (refusal) return { effect: 'ask' as const, detail: refusal.detail }
      const money = `${formatTokenAmount(amount, usdcDecimals)} USDC`
      if (verdict.effect === 'ask') return { effect: 'ask' as const, detail: `You approve ${money} first.` }
      return { effect: 'allow' as const, detail: verdict.detail }
    } catch (error) {
      if (error instanceof AppError) return { effect: 'refuse' as const, detail: error.message }
      throw error
    }
  }

  function findIntent(id: string | null): IntentRecord | undefined {
    try {
      return id === null ? undefined : approvals.get(id)
    } catch (error) {
      if (error instanceof AppError && error.code === 'intent/not-found') return undefined
      throw error
    }
  }
}

/** A stranger's error is returned as its response; an error of the own service is thrown with its code and message. */
async function unpaid({ seller, request, via }: PurchaseRequest, signal: AbortSignal): Promise<SellerAnswer> {
  const answer = await seller.ask(request, signal)
  if (via === 'public' || answer.status === 402 || answer.status < 400) return answer
  throw toServiceError(answer.status, parseJsonOrUndefined(answer.body.toString('utf8')))
}

type Alongside = (record: IntentRecord) => void

/** With its answer, as the local API tells it. */
export function toReceipt({ record, answer }: StoredPayment): PaymentReceipt {
  return { ...record, answer }
}
