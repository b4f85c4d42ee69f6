import { parseJsonOrUndefined } from '#platform/parsing/parseJsonOrUndefined.ts'
import { AppError } from '#shared/appError.ts'
import type { IntentRecord } from '#shared/contract/intents.ts'
import { formatUsd } from '#shared/money/moneyText.ts'
import { toServiceError } from '../base/serviceRefusal.ts'
import { parsePaymentRequired } from './paymentPlan.ts'
import type { PaymentRepository, StoredPayment } from './paymentRepository.ts'
import type { Seller } from './seller.ts'
import type { SigningClock } from './signingClock.ts'

type Options = {
  payments: Pick<PaymentRepository, 'ofIntent'>
  ownService: () => Seller | undefined
  isOwnService: (url: string) => boolean
  hasSolana: () => boolean
  clock: SigningClock
  now: () => number
}

const timeoutMs = 10_000
/** Time since the request after which the clock is compared again. */
const clockCheckMaxAgeMs = 2 * 60_000

/**
 * Creates the check that runs right before a payment is signed. A signature counts against limits until it expires, so
 * payments are not signed if Steward's service would reject them, such as for a domain that was registered in the
 * meantime.
 */
export function createSigningCheck(options: Options): (intent: IntentRecord) => Promise<void> {
  const { payments, ownService, clock, now } = options

  const assertOffered = async ({ request, record }: StoredPayment): Promise<void> => {
    const { method, url, headers, body } = request
    const requested = { method, url, headers, ...(body !== undefined && { body }) }
    const answer = await ownService()
      ?.ask(requested, AbortSignal.timeout(timeoutMs))
      .catch(() => undefined)
    // An unavailable or busy service is skipped, because it rejects undeliverable orders without charging.
    if (!answer || answer.status >= 500 || answer.status === 429 || answer.status < 400) return
    if (answer.status !== 402) throw toServiceError(answer.status, parseJsonOrUndefined(answer.body.toString('utf8')))
    const payer = { isOwnService: options.isOwnService(record.url), hasSolana: options.hasSolana() }
    const amount = parsePaymentRequired(answer, payer).choice?.chosen.offer.amount
    if (amount === undefined || amount === record.amount) return
    const message = `The service now asks for ${formatUsd(amount, 'exact')}, not for ${formatUsd(record.amount, 'exact')}.`
    throw new AppError('purchase/price', message)
  }

  return async (intent) => {
    if (intent.kind !== 'x402.authorize') return
    const payment = payments.ofIntent(intent.id)
    if (payment?.request.via === 'service') await assertOffered(payment)
    const isCompared = payment !== undefined && now() - Date.parse(intent.created_at) < clockCheckMaxAgeMs
    const network = /^[^:]+:[^:]+/.exec(intent.scope ?? '')?.[0]
    if (!isCompared && network !== undefined) await clock.assertAtChain(network)
  }
}
