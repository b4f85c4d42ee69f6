import { AppError } from '#shared/appError.ts'
import type { Intent } from '#shared/contract/intents.ts'
import { testLedgerNetwork } from '#shared/contract/networks.ts'
import type { PaymentPurpose, PaymentReceipt } from '#shared/contract/paymentRecords.ts'
import { formatUsd } from '#shared/money/moneyText.ts'
import { type ParsedRequirements, readRequirements, sanitizeText } from './parseRequirements.ts'
import type { RecordedRequest } from './paymentRepository.ts'
import type { Seller, SellerRequest, SellerResponse } from './seller.ts'

export type PurchaseRequest = {
  seller: Seller
  request: SellerRequest
  via: RecordedRequest['via']
  /** URL of the request, for display and for the signer. */
  url: string
  purpose: PaymentPurpose
  title: string
  /** Expected price. Any other price is refused. */
  quote: PaymentReceipt['quote']
  /** Purchased item, as in `IntentRecord.purchase`. Defaults to the item in the request to Steward's service. */
  purchase?: string
  /** Maximum set by the requester; null for the limit of one payment. */
  capMicroUsd: number | null
}

export type ChosenOffer = { index: number; chosen: ParsedRequirements }
export type ParsedPaymentRequired = { offers: ParsedRequirements[]; choice: ChosenOffer | undefined }

/** Maximum lifetime of a signature, regardless of the seller's request. */
const maxLifetimeSeconds = 300

type Payer = {
  /** Whether the seller is this application's service. Only this service accepts test money. */
  isOwnService: boolean
  /** Whether the wallet has an account on Solana. */
  hasSolana: boolean
}

/**
 * Parses the offers of a 402 response and chooses the first payable one. Prefers EVM over Solana, and any other scheme
 * over `upto`.
 */
export function parsePaymentRequired(
  { headers, body }: SellerResponse,
  { isOwnService, hasSolana }: Payer,
): ParsedPaymentRequired {
  const offers = readRequirements(headers, body.toString('utf8')).map((offer): ParsedRequirements => {
    if (!offer.offer.payable) return offer
    const isForeign = offer.network?.id === testLedgerNetwork.id && !isOwnService
    if (!isForeign && (!offer.solana || hasSolana)) return offer
    const problem = isForeign
      ? 'Test money can only be spent at the service that issued it.'
      : 'The wallet has no Solana account.'
    return { ...offer, offer: { ...offer.offer, payable: false, problem } }
  })
  const preferredIndex = [isPlainEvm, isSolana, isUpto].reduce(
    (index, isOfKind) => (index >= 0 ? index : offers.findIndex((offer) => offer.offer.payable && isOfKind(offer))),
    -1,
  )
  const chosen = offers[preferredIndex]
  return { offers, choice: chosen && { index: preferredIndex, chosen } }
}

const isUpto = ({ facilitator }: ParsedRequirements): boolean => facilitator !== undefined
const isSolana = ({ solana }: ParsedRequirements): boolean => solana !== undefined
const isPlainEvm = (parsedOffer: ParsedRequirements): boolean => !isUpto(parsedOffer) && !isSolana(parsedOffer)

/** @throws AppError `purchase/offer` with the problem of each offer */
export function requirePayableOption({ offers, choice }: ParsedPaymentRequired, host: string): ChosenOffer {
  if (choice) return choice
  const problems = [...new Set(offers.map(({ offer }) => offer.problem))].slice(0, 5).join(' ')
  throw new AppError(
    'purchase/offer',
    offers.length === 0
      ? `The payment request of ${host} is not valid x402.`
      : `Steward cannot pay any option of ${host}. ${problems}`,
  )
}

/** @throws AppError `purchase/price`, `purchase/over-maximum` */
export function assertPrice(
  { chosen }: ChosenOffer,
  { quote, capMicroUsd }: Pick<PurchaseRequest, 'quote' | 'capMicroUsd'>,
): number {
  const amount = chosen.offer.amount_micro_usd ?? 0 // always known for a payable offer
  if (quote && quote.amount_micro_usd !== amount) {
    throw new AppError(
      'purchase/price',
      `The seller asks for ${formatUsd(String(amount), 'exact')}, not for ${formatUsd(String(quote.amount_micro_usd), 'exact')}.`,
    )
  }
  if (capMicroUsd !== null && amount > capMicroUsd) {
    throw new AppError(
      'purchase/over-maximum',
      `The price is ${formatUsd(String(amount), 'exact')}, which is above ${formatUsd(String(capMicroUsd), 'exact')}.`,
    )
  }
  return amount
}

/** Creates the intent with the network, payee and amount of the offer, and a bounded lifetime. */
export function toIntent(
  { chosen }: ChosenOffer,
  { url, purpose, title }: Pick<PurchaseRequest, 'url' | 'purpose' | 'title'>,
): Intent {
  const { network, pay_to, amount, max_timeout_seconds: seconds, description } = chosen.offer
  const text = purpose === 'fetch' ? description : sanitizeText(title)
  return {
    kind: 'x402.authorize',
    network,
    pay_to,
    amount,
    resource: url,
    valid_seconds: Math.min(seconds ?? maxLifetimeSeconds, maxLifetimeSeconds),
    ...(chosen.facilitator !== undefined && { facilitator: chosen.facilitator }),
    ...(chosen.solana && {
      fee_payer: chosen.solana.feePayer,
      ...(chosen.solana.memo && { memo: chosen.solana.memo }),
    }),
    ...(text !== null && { description: text.slice(0, 300) }),
  }
}

/**
 * Converts dollars to micro-dollars: `12.5` becomes 12500000.
 * @throws AppError `request/invalid` for more than 6 decimals
 */
export function parseUsd(name: string, usd: number): number {
  const amount = Math.round(usd * 1_000_000)
  if (Number.isSafeInteger(amount) && amount > 0 && Math.abs(amount / 1_000_000 - usd) < 1e-9) return amount
  throw new AppError('request/invalid', `\`${name}\` must have at most 6 decimals, not ${usd}.`)
}
