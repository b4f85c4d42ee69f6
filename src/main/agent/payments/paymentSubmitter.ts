import { parseJsonOrUndefined } from '#platform/parsing/parseJsonOrUndefined.ts'
import { AppError } from '#shared/appError.ts'
import { normalizeAddress } from '#shared/contract/networks.ts'
import type { PaidResponse, PaymentId } from '#shared/contract/paymentRecords.ts'
import type { AuthorizationLookup } from '../base/authorizations.ts'
import { lookupDelayMs } from '../base/lookupDelay.ts'
import { sanitizeText } from './parseRequirements.ts'
import type { PaymentChange, PaymentJournal } from './paymentJournal.ts'
import { createPaymentLookup, getExpiryMs, type PaymentLookup } from './paymentLookup.ts'
import { parseReceipt, type Receipt } from './paymentPayload.ts'
import type { PaymentRepository, RecordedRequest, StoredPayment } from './paymentRepository.ts'
import { type Seller, type SellerResponse, toPaidResponse } from './seller.ts'

/** Advances a signed payment: sends the same bytes, or looks up their outcome. Signs nothing. */
export type PaymentSubmitter = {
  /** @throws any unexpected error */
  step(id: PaymentId, signal: AbortSignal): Promise<void>
}

type Options = {
  payments: Pick<PaymentRepository, 'find'>
  journal: Pick<PaymentJournal, 'transition'>
  /** Returns undefined if the request belongs to a service that is not connected. */
  findSeller: (request: RecordedRequest) => Seller | undefined
  lookup: Pick<AuthorizationLookup, 'findState'>
  transientHeaders: TransientHeaders
  now: () => number
}

/** Credentials of requests, in memory only. After a restart, these requests are not sent or retried. */
export type TransientHeaders = Map<PaymentId, Readonly<Record<string, string>>>

const secondMs = 1_000
/** Lease of a send, in milliseconds. After a crash it expires immediately. */
const resendDelayMs = 150 * secondMs
const maxRetryDelayMs = 10 * 60 * secondMs
export function createPaymentSubmitter(options: Options): PaymentSubmitter {
  const { payments, journal, findSeller, transientHeaders, now } = options
  const lookup = createPaymentLookup(options.lookup)
  const scheduleRetry = createRetrySchedule(options)
  const handleResponse = createResponseHandler(options, lookup, scheduleRetry)
  const reconcile = createReconciliation(options, lookup)

  const present = async (payment: StoredPayment, seller: Seller, signal: AbortSignal): Promise<void> => {
    const { record, request, payload, attempts } = payment
    if (!payload) throw new Error(`The payment ${record.id} has no signature.`)
    // Stored before sending, so that a crash cannot hide a sent payment.
    const state = record.state === 'unknown' ? 'unknown' : 'sent'
    const submitted = journal.transition(record.id, state, { attempts: attempts + 1, nextAtMs: now() + resendDelayMs })
    if (!submitted) return
    const { method, url, body } = request
    const headers = transientHeaders.get(record.id) ?? request.headers
    const paying = { method, url, headers: { ...headers, [payload.header]: payload.value }, body }
    const answer = await seller.ask(paying, signal).catch((error: unknown) => {
      signal.throwIfAborted()
      if (error instanceof AppError) return error
      throw error
    })
    if (answer instanceof AppError) scheduleRetry(submitted, answer.message)
    else await handleResponse(submitted, answer, signal)
  }

  /**
   * Third parties are retried while the signature is valid. Steward's service is retried longer, because it stores its
   * payments and still returns the response after their expiry.
   */
  const mayPresent = (payment: StoredPayment): boolean => {
    const { record, request, answer } = payment
    if (record.state === 'refused' || !(request.complete || transientHeaders.has(record.id))) return false
    if (record.state === 'unknown' && answer !== null && !isTransient(answer)) return false
    const graceMs = request.via === 'service' ? maxRetryDelayMs : 0
    return now() < getExpiryMs(payment) + graceMs
  }

  return {
    async step(id, signal) {
      const payment = payments.find(id)
      if (!payment || payment.nextAtMs === null) return
      const seller = mayPresent(payment) ? findSeller(payment.request) : undefined
      if (seller) await present(payment, seller, signal)
      else await reconcile(payment)
    },
  }
}

type RetryOptions = { waitMs?: number } & Pick<PaymentChange, 'answer' | 'receipt'>
type ScheduleRetry = (payment: StoredPayment, error: string, options?: RetryOptions) => void

/** Creates the function that schedules a retry with the same bytes. */
function createRetrySchedule({ journal, now }: Pick<Options, 'journal' | 'now'>): ScheduleRetry {
  return (payment, error, { waitMs = 0, ...fields } = {}) => {
    const isExpired = now() >= getExpiryMs(payment)
    const backOffMs = Math.min(
      secondMs * 2 ** Math.min(payment.attempts, 10),
      isExpired ? maxRetryDelayMs : 30 * secondMs,
    )
    journal.transition(payment.record.id, 'unknown', {
      error,
      nextAtMs: now() + Math.max(waitMs, backOffMs),
      ...fields,
    })
  }
}

function createResponseHandler(
  { journal, now }: Pick<Options, 'journal' | 'now'>,
  lookup: PaymentLookup,
  scheduleRetry: ScheduleRetry,
) {
  return async (payment: StoredPayment, answer: SellerResponse, signal: AbortSignal): Promise<void> => {
    const { id, network, from } = payment.record
    const sellerReceipt = parseReceipt(answer.headers)
    const receipt = sellerReceipt && isOurs(sellerReceipt, { network, from }) ? sellerReceipt : undefined
    const result = { answer: toPaidResponse(answer), ...(receipt && { receipt }) }
    // The payment settled, but the service has not finished the order. A retry with the same bytes returns its result.
    const isOpen = payment.request.via === 'service' && isTransient(result.answer)
    if (receipt?.success && !isOpen) {
      const error = answer.status < 400 ? null : `Paid, but the seller responded with status ${answer.status}.`
      const settledMicroUsd = await lookup.readSettledMicroUsd(payment, receipt.transaction, signal)
      const settled = {
        ...{ paid: true, error, transaction: receipt.transaction, nextAtMs: null, ...result },
        ...(settledMicroUsd !== undefined && { settledMicroUsd }),
      } as const
      if (journal.transition(id, 'settled', settled)) return
    }
    if (isTransient(result.answer)) {
      const waitMs = retryAfterMs(answer)
      scheduleRetry(payment, `The seller responded with status ${answer.status}.`, { ...result, waitMs })
      return
    }
    const isSuccess = answer.status < 400
    const error = isSuccess
      ? 'The seller sent no receipt.'
      : `The seller refused the payment: ${toReason(answer, receipt)}`
    if (!isSuccess && payment.record.state === 'sent' && payment.attempts === 1) {
      journal.transition(id, 'refused', {
        paid: null,
        error,
        nextAtMs: getExpiryMs(payment) + lookupDelayMs,
        ...result,
      })
      return
    }
    // Served without a receipt, or already used. The chain decides.
    journal.transition(id, 'unknown', { error, nextAtMs: now() + 2 * secondMs, ...result })
  }
}

/** Creates the step that looks up a payment on the chain, and schedules another lookup while the outcome is unknown. */
function createReconciliation({ journal, now }: Pick<Options, 'journal' | 'now'>, lookup: PaymentLookup) {
  return async (payment: StoredPayment): Promise<void> => {
    const { id, state, error, receipt } = payment.record
    const outcome = await lookup.findState(payment, receipt?.transaction ?? null)
    if (outcome.state === 'used') {
      const paid = {
        paid: true,
        error,
        reconciled_by: 'chain',
        transaction: outcome.transaction,
        nextAtMs: null,
        ...(outcome.settledMicroUsd !== undefined && { settledMicroUsd: outcome.settledMicroUsd }),
      } as const
      journal.transition(id, 'reconciled', paid)
    } else if (outcome.state === 'unused' && outcome.isFinal) {
      const next = state === 'refused' ? 'refused' : 'reconciled'
      journal.transition(id, next, { paid: false, error, reconciled_by: 'chain', nextAtMs: null })
    } else {
      const overdueMs = Math.max(0, now() - getExpiryMs(payment) - lookupDelayMs)
      const waitMs = Math.min(Math.max(15 * secondMs, overdueMs), maxRetryDelayMs)
      journal.transition(id, state === 'refused' ? 'refused' : 'unknown', { nextAtMs: now() + waitMs })
    }
  }
}

/** Whether a receipt names our payer and network. Others are ignored. */
function isOurs({ payer, network }: Receipt, ours: { network: string; from: string }): boolean {
  const samePayer = payer === null || normalizeAddress(payer) === normalizeAddress(ours.from)
  return samePayer && (network === null || network === ours.network || !network.includes(':'))
}

/** Whether the response does not show an outcome of the payment, so that a retry with the same bytes may succeed. */
function isTransient({ status, body }: PaidResponse): boolean {
  return status >= 500 || [408, 425, 429].includes(status) || (status === 409 && body.includes('payments/in-flight'))
}

function toReason({ body }: SellerResponse, receipt: Receipt | undefined): string {
  const parsed = parseJsonOrUndefined(body.toString('utf8'))
  const { reason, error } =
    typeof parsed === 'object' && parsed !== null ? (parsed as { reason?: unknown; error?: unknown }) : {}
  const detail = [error, reason].find((it) => typeof it === 'string')
  return (
    sanitizeText(typeof detail === 'string' ? detail : undefined, 200) ??
    (receipt ? 'not settled.' : 'no reason given.')
  )
}

function retryAfterMs({ headers }: SellerResponse): number {
  const seconds = Number(headers['retry-after'])
  return seconds > 0 ? Math.min(seconds, 60) * secondMs : 0
}
