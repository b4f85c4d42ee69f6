import type { CompleteResponse, Payment } from '#platform/http/endpoint.ts'
import { UnknownOutcomeError } from '#platform/http/unknownOutcomeError.ts'
import { AppError } from '#shared/appError.ts'
import type { Route } from '#shared/contract/route.ts'
import { toMicroUsd } from '#shared/microUsd.ts'
import type { AnyCall } from '../base/endpoint.ts'
import type { Settlement } from './facilitator.ts'
import { createPaymentRequiredError, createReceiptHeaders, type Offer } from './offer.ts'
import type { PaymentBooks } from './paymentBooks.ts'
import { createAlreadyUsedError, createUnknownOutcomeError } from './paymentErrors.ts'
import type { PaymentRow } from './paymentRepository.ts'
import type { PaymentSettler } from './paymentSettler.ts'
import type { Paid, Sale } from './sale.ts'

export type AnySale = Sale<Route, unknown>

export type PaymentResult = Payment | { answer: CompleteResponse }

/** Request of a payment, as far as its work needs it. */
export type PaymentRequest = {
  call: AnyCall
  offer: () => Promise<Offer>
  release: () => void
}

/** Does the work of settled payments once, and credits the payer if it fails. */
export type PaidWork = {
  /** Completes interrupted work. @throws the error that prevents it */
  recover(row: PaymentRow): Promise<CompleteResponse>
  /** Records a settlement. @throws AppError unless the payment settled */
  begin(row: PaymentRow, settlement: Settlement, request: Pick<PaymentRequest, 'offer' | 'release'>): Promise<Payment>
  /** Resumes a payment that has settled or may have settled: returns the first response, or completes the work. */
  resume(row: PaymentRow, request: PaymentRequest): Promise<PaymentResult>
}

export function createPaidWork(options: {
  books: PaymentBooks
  settler: PaymentSettler
  findSale: (operation: string) => { route: Route; sale: AnySale } | undefined
  onFailure: (error: unknown) => void
}): PaidWork {
  const { books, settler, findSale, onFailure } = options

  const createReceipt = ({ authorization }: PaymentRow, transaction: string) =>
    createReceiptHeaders({ network: settler.getNetwork(), transaction, authorization })

  const toPayment = (row: PaymentRow, headers: Record<string, string>, release: () => void): Payment => ({
    settlement: toPaid(row),
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
        if (error instanceof UnknownOutcomeError) return createUnknownOutcomeError(error.message)
        return await books.credit(row, toClientError(error, onFailure))
      } catch (unwritten) {
        onFailure(unwritten)
        return createUnknownOutcomeError('Payment settled, but its result could not be saved.')
      } finally {
        release()
      }
    },
  })

  const recover: PaidWork['recover'] = async (row) => {
    const sold = findSale(row.operation)
    const answer = await sold?.sale.recover(toPaid(row))
    if (!sold || answer === undefined) {
      const cutOff = new AppError('internal/unexpected', 'The service stopped before finishing this request.')
      return toStoredResponse(await books.credit(row, cutOff))
    }
    const response = { status: sold.route.status, body: JSON.stringify(answer) }
    await books.done(row.id, response)
    return response
  }

  const begin: PaidWork['begin'] = async (row, settlement, { offer, release }) => {
    await books.recordSettlement(row.id, settlement, 'begun')
    if (settlement.state === 'failed') throw createPaymentRequiredError(await offer(), settlement)
    if (settlement.state === 'unknown') {
      throw createUnknownOutcomeError('The outcome of this payment is not known yet.')
    }
    const { transaction } = settlement
    return toPayment({ ...row, transaction }, createReceipt(row, transaction), release)
  }

  return {
    recover,
    begin,
    async resume(row, { call, offer, release }) {
      if (row.state !== 'settled' || row.transaction === null) {
        return begin(row, await settler.retrySettlement(row), { offer, release })
      }
      const receipt = createReceipt(row, row.transaction)
      if (row.work === 'waiting') {
        await books.begin(row.id)
        return toPayment(row, receipt, release)
      }
      const answer = row.answer ?? (row.work === 'begun' ? await recover(row) : undefined)
      if (!answer) throw createAlreadyUsedError()
      for (const [name, value] of Object.entries(receipt)) call.setHeader(name, value)
      release()
      return { answer }
    },
  }
}

function toPaid({ id, payer, accountId, amount, transaction, purchase }: PaymentRow): Paid<unknown> {
  if (transaction === null) throw new Error(`The payment ${id} has no transaction.`)
  return { id, payer, accountId, amount: toMicroUsd(amount), transaction, purchase }
}

function toStoredResponse(error: AppError): CompleteResponse {
  return { status: error.status, body: JSON.stringify(error.toBody()) }
}

function toClientError(error: unknown, onFailure: (error: unknown) => void): AppError {
  if (error instanceof AppError) return error
  onFailure(error)
  return new AppError('internal/unexpected', 'Something unexpected went wrong in Steward.', { cause: error })
}
