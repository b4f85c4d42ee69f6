import { setTimeout as wait } from 'node:timers/promises'
import { parseJsonOrUndefined } from '#platform/parseJsonOrUndefined.ts'
import { readTransactionNonce } from '#platform/solana/solanaTransaction.ts'
import { AppError } from '#shared/appError.ts'
import { normalizeAddress } from '#shared/contract/networks.ts'
import type { PaidAnswer, PaymentId } from '#shared/contract/paymentRecords.ts'
import { lookupDelayMs } from '../base/lookupDelay.ts'
import type { AuthorizationLookup } from './authorizationLookup.ts'
import type { PaymentJournal } from './paymentJournal.ts'
import { parseReceipt, type Receipt } from './paymentPayload.ts'
import type { PaymentRepository, RecordedRequest, StoredPayment } from './paymentRepository.ts'
import { sanitizeText } from './readOffers.ts'
import { type Seller, type SellerAnswer, toPaidAnswer } from './seller.ts'

/** Takes a signed payment one step on: sends the same bytes, or looks up what became of them. It signs nothing. */
export type PaymentSending = {
  /** @throws whatever is a mistake of ours */
  step(id: PaymentId, signal: AbortSignal): Promise<void>
}

type Options = {
  payments: Pick<PaymentRepository, 'find'>
  journal: Pick<PaymentJournal, 'become'>
  /** Returns undefined if that service is not the connected one. */
  findSeller: (request: RecordedRequest) => Seller | undefined
  lookup: Pick<AuthorizationLookup, 'findState'>
  transientHeaders: TransientHeaders
  now: () => number
}

/** Credentials of requests, in memory only. A later run therefore does not send or retry these requests. */
export type TransientHeaders = Map<PaymentId, Readonly<Record<string, string>>>

const secondMs = 1_000
/** Lease of a send, in milliseconds. After a crash it expires immediately. */
const sendingMs = 150 * secondMs
const maxMs = 10 * 60 * secondMs
/** Our node may hear of a transaction a few seconds after the seller's. */
const looks = 4

export function createPaymentSending({
  payments,
  journal,
  findSeller,
  lookup,
  transientHeaders,
  now,
}: Options): PaymentSending {
  const expiryMs = ({ record }: StoredPayment): number => Date.parse(record.valid_until ?? record.created_at)
  const isExpired = (payment: StoredPayment): boolean => now() >= expiryMs(payment)

  const present = async (payment: StoredPayment, seller: Seller, signal: AbortSignal): Promise<void> => {
    const { record, request, payload, attempts } = payment
    if (!payload) throw new Error(`The payment ${record.id} has no signature.`)
    // Before a byte leaves, it is on disk that one may have left.
    const state = record.state === 'unknown' ? 'unknown' : 'sent'
    const submitted = journal.become(record.id, state, { attempts: attempts + 1, nextAtMs: now() + sendingMs })
    if (!submitted) return
    const { method, url, body } = request
    const headers = transientHeaders.get(record.id) ?? request.headers
    const paying = { method, url, headers: { ...headers, [payload.header]: payload.value }, body }
    const answer = await seller.ask(paying, signal).catch((error: unknown) => {
      signal.throwIfAborted()
      if (error instanceof AppError) return error
      throw error
    })
    if (answer instanceof AppError) later(submitted, answer.message)
    else await take(submitted, answer, signal)
  }

  /**
   * Reads the settled amount of an `upto` payment from the chain, never from the seller; undefined counts as the full
   * amount.
   */
  const readSettledMicroUsd = async (payment: StoredPayment, transaction: string | null, signal: AbortSignal) => {
    if (payment.record.scheme !== 'upto' || transaction === null) return undefined
    const settlement = await createLookup(payment, transaction)
    for (let look = 1; ; look += 1) {
      const outcome = await lookup.findState(settlement)
      if (outcome.state === 'used') return outcome.settledMicroUsd
      if (look === looks) return undefined
      await wait(secondMs, undefined, { signal })
    }
  }

  const createLookup = async (payment: StoredPayment, transaction: string | null) => {
    const { id, network, from: payer, pay_to: payTo, amount, created_at: since } = payment.record
    const nonce = await readNonce(payment)
    if (nonce === undefined) throw new Error(`The payment ${id} has no nonce.`)
    const validBeforeMs = expiryMs(payment)
    return {
      ...{ network, payer, payTo, amount, nonce, validBeforeMs, sinceMs: Date.parse(since), transaction },
      ...(payment.request.via === 'service' && { service: payment.request.service }),
    }
  }

  const take = async (payment: StoredPayment, answer: SellerAnswer, signal: AbortSignal): Promise<void> => {
    const { id, network, from } = payment.record
    const sellerReceipt = parseReceipt(answer.headers)
    const receipt = sellerReceipt && isOurs(sellerReceipt, { network, from }) ? sellerReceipt : undefined
    const result = { answer: toPaidAnswer(answer), ...(receipt && { receipt }) }
    // The payment settled, but the service has not finished the order: a retry with the same bytes returns its result.
    const isOpen = payment.request.via === 'service' && isTransient(result.answer)
    if (receipt?.success && !isOpen) {
      const error = answer.status < 400 ? null : `Paid, and the seller answered with status ${answer.status}.`
      const settledMicroUsd = await readSettledMicroUsd(payment, receipt.transaction, signal)
      const settled = {
        ...{ paid: true, error, transaction: receipt.transaction, nextAtMs: null, ...result },
        ...(settledMicroUsd !== undefined && { settledMicroUsd }),
      } as const
      if (journal.become(id, 'settled', settled)) return
    }
    if (isTransient(result.answer)) {
      later(payment, `The seller answered with status ${answer.status}.`, { ...result, waitMs: retryAfterMs(answer) })
      return
    }
    const isServed = answer.status < 400
    const error = isServed
      ? 'The seller sent no receipt.'
      : `The seller refused the payment: ${toReason(answer, receipt)}`
    if (!isServed && payment.record.state === 'sent' && payment.attempts === 1) {
      journal.become(id, 'refused', { paid: null, error, nextAtMs: expiryMs(payment) + lookupDelayMs, ...result })
      return
    }
    // Served without a receipt, or used before: the chain tells.
    journal.become(id, 'unknown', { error, nextAtMs: now() + 2 * secondMs, ...result })
  }

  /** The same bytes are sent again. */
  const later = (payment: StoredPayment, error: string, options: LaterOptions = {}): void => {
    const { waitMs = 0, ...fields } = options
    const backOffMs = Math.min(
      secondMs * 2 ** Math.min(payment.attempts, 10),
      isExpired(payment) ? maxMs : 30 * secondMs,
    )
    journal.become(payment.record.id, 'unknown', { error, nextAtMs: now() + Math.max(waitMs, backOffMs), ...fields })
  }

  const lookUp = async (payment: StoredPayment): Promise<void> => {
    const { id, state, error, receipt } = payment.record
    const outcome = await lookup.findState(await createLookup(payment, receipt?.transaction ?? null))
    if (outcome.state === 'used') {
      const paid = {
        paid: true,
        error,
        reconciled_by: 'chain',
        transaction: outcome.transaction,
        nextAtMs: null,
        ...(outcome.settledMicroUsd !== undefined && { settledMicroUsd: outcome.settledMicroUsd }),
      } as const
      journal.become(id, 'reconciled', paid)
    } else if (outcome.state === 'unused' && outcome.isFinal) {
      const next = state === 'refused' ? 'refused' : 'reconciled'
      journal.become(id, next, { paid: false, error, reconciled_by: 'chain', nextAtMs: null })
    } else {
      const overdueMs = Math.max(0, now() - expiryMs(payment) - lookupDelayMs)
      const waitMs = Math.min(Math.max(15 * secondMs, overdueMs), maxMs)
      journal.become(id, state === 'refused' ? 'refused' : 'unknown', { nextAtMs: now() + waitMs })
    }
  }

  /** A stranger is asked while the signature is good. The service knows its own payments for longer, and then has the answer too. */
  const mayPresent = (payment: StoredPayment): boolean => {
    const { record, request, answer } = payment
    if (record.state === 'refused' || !(request.complete || transientHeaders.has(record.id))) return false
    if (record.state === 'unknown' && answer !== null && !isTransient(answer)) return false
    const graceMs = request.via === 'service' ? maxMs : 0
    return now() < expiryMs(payment) + graceMs
  }

  return {
    async step(id, signal) {
      const payment = payments.find(id)
      if (!payment || payment.nextAtMs === null) return
      const seller = mayPresent(payment) ? findSeller(payment.request) : undefined
      if (seller) await present(payment, seller, signal)
      else await lookUp(payment)
    },
  }
}

type LaterOptions = { waitMs?: number } & Pick<Parameters<PaymentJournal['become']>[2], 'answer' | 'receipt'>

/** Whether a receipt names our payer and network; others are ignored. */
function isOurs({ payer, network }: Receipt, ours: { network: string; from: string }): boolean {
  const samePayer = payer === null || normalizeAddress(payer) === normalizeAddress(ours.from)
  return samePayer && (network === null || network === ours.network || !network.includes(':'))
}

async function readNonce({ payload }: StoredPayment): Promise<string | undefined> {
  const sent = parseJsonOrUndefined(Buffer.from(payload?.value ?? '', 'base64').toString('utf8')) as
    | {
        payload?: {
          authorization?: { nonce?: string }
          permit2Authorization?: { nonce?: string }
          transaction?: string
        }
      }
    | undefined // we wrote it
  const { authorization, permit2Authorization: permit, transaction } = sent?.payload ?? {}
  return (
    authorization?.nonce ??
    permit?.nonce ??
    (transaction === undefined ? undefined : await readTransactionNonce(transaction))
  )
}

/** Whether the response says nothing about the payment, so that a retry with the same bytes may succeed. */
function isTransient({ status, body }: PaidAnswer): boolean {
  return status >= 500 || [408, 425, 429].includes(status) || (status === 409 && body.includes('payments/in-flight'))
}

function toReason({ body }: SellerAnswer, receipt: Receipt | undefined): string {
  const parsed = parseJsonOrUndefined(body.toString('utf8'))
  const { reason, error } =
    typeof parsed === 'object' && parsed !== null ? (parsed as { reason?: unknown; error?: unknown }) : {}
  const words = [error, reason].find((it) => typeof it === 'string')
  return (
    sanitizeText(typeof words === 'string' ? words : undefined, 200) ??
    (receipt ? 'it was not settled.' : 'it gave no reason.')
  )
}

function retryAfterMs({ headers }: SellerAnswer): number {
  const seconds = Number(headers['retry-after'])
  return seconds > 0 ? Math.min(seconds, 60) * secondMs : 0
}
