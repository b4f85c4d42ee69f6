import { AppError } from '#shared/appError.ts'
import { paymentHeaders } from '#shared/contract/payments.ts'
import { identifierDeclaration, paymentIdentifierName } from '#shared/paymentIdentifier.ts'
import type { PaymentAuthorization, Price, Refusal } from './paymentAuthorization.ts'

/** Price of one request in the formats of all x402 versions. */
export type Offer = Price & {
  /** URL of the product. */
  resource: string
  description: string
}

/** Validity of signed payments. */
const timeoutSeconds = 300
const mimeType = 'application/json'

/** @returns a 402 error that clients of both versions can read */
export function createPaymentRequiredError(offer: Offer, refusal?: Refusal): AppError {
  const error = refusal?.reason ?? 'Payment required'
  const first = toVersion1(offer, error)
  const { x402Version, accepts } = first
  return new AppError('payments/required', refusal?.message ?? 'Payment required', {
    headers: {
      [paymentHeaders.required.v2]: encodeHeader(toVersion2(offer, error)),
      [paymentHeaders.required.v1]: encodeHeader(first),
      'cache-control': 'no-store',
    },
    fields: { x402Version, accepts, ...(refusal && { reason: refusal.reason }) },
  })
}

/** Builds the requirements for a facilitator of version 2. */
export function createRequirements({ network, payTo, amount }: Price) {
  const { id, usdc } = network
  return {
    scheme: 'exact',
    network: id,
    amount: String(amount),
    asset: usdc.address,
    payTo,
    maxTimeoutSeconds: timeoutSeconds,
    extra: { name: usdc.name, version: usdc.version },
  }
}

export function createReceiptHeaders(paid: {
  network: Price['network']
  transaction: string
  authorization: Pick<PaymentAuthorization, 'from'>
}): Record<string, string> {
  const { network, transaction, authorization } = paid
  const receipt = { success: true, transaction, payer: authorization.from }
  return {
    [paymentHeaders.receipt.v1]: encodeHeader({ ...receipt, network: network.slug }),
    [paymentHeaders.receipt.v2]: encodeHeader({ ...receipt, network: network.id }),
    'cache-control': 'no-store',
  }
}

function toVersion1(offer: Offer, error: string) {
  const { network, resource, description } = offer
  const { amount, network: _, ...rest } = createRequirements(offer)
  // Some clients interpret an amount of fewer than 7 digits as whole dollars.
  const maxAmountRequired = amount.padStart(7, '0')
  return {
    x402Version: 1,
    error,
    accepts: [{ ...rest, network: network.slug, maxAmountRequired, resource, description, mimeType }],
  }
}

function toVersion2(offer: Offer, error: string) {
  const { resource: url, description } = offer
  return {
    ...{ x402Version: 2, error, resource: { url, description, mimeType }, accepts: [createRequirements(offer)] },
    extensions: { [paymentIdentifierName]: identifierDeclaration },
  }
}

function encodeHeader(value: unknown): string {
  return Buffer.from(JSON.stringify(value), 'utf8').toString('base64')
}
