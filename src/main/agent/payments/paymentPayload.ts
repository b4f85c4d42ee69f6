import { z } from 'zod'
import { parseJsonOrUndefined } from '#platform/parsing/parseJsonOrUndefined.ts'
import type { SignedIntent } from '#shared/contract/intents.ts'
import type { PaymentId, PaymentReceipt } from '#shared/contract/paymentRecords.ts'
import { paymentHeaders } from '#shared/contract/payments.ts'
import { paymentIdentifierName } from '#shared/paymentIdentifier.ts'
import { type Declaration, isShortJson, type ReceivedRequirements } from './parseRequirements.ts'

/** Header of a payment. The value is the same on each retry. */
export type PaymentPayload = { header: string; value: string }

type Signed = {
  version: 1 | 2
  raw: ReceivedRequirements
  url: string
  result: SignedIntent
  /** Identifier of the payment. `declared` is undefined if the seller does not support identifiers. */
  identifier: { declared: Declaration | undefined; id: PaymentId }
}

/** Builds the payload from stored data only, so that it is identical after a crash. */
export function createPaymentPayload({ version, raw, url, result, identifier }: Signed): PaymentPayload {
  const payload = createSignedPart(result)
  const value =
    version === 1
      ? { x402Version: 1, scheme: raw.scheme, network: raw.network, payload }
      : { x402Version: 2, resource: { url }, accepted: raw, payload, ...createExtensions(identifier) }
  return {
    header: version === 1 ? paymentHeaders.payment.v1 : paymentHeaders.payment.v2,
    value: Buffer.from(JSON.stringify(value), 'utf8').toString('base64'),
  }
}

function createExtensions({ declared, id }: Signed['identifier']): object {
  if (!declared) return {}
  const info = typeof declared.info === 'object' ? declared.info : {}
  return { extensions: { [paymentIdentifierName]: { ...declared, info: { ...info, id } } } }
}

function createSignedPart({ signature, authorization, transaction, permit }: SignedIntent): object {
  if (!authorization) throw new Error('A signed payment has its authorization.')
  if (transaction !== undefined) return { transaction }
  if (!permit) return { signature, authorization }
  const { from, to, value, validAfter, validBefore, nonce } = authorization
  const { token, spender, facilitator } = permit
  return {
    signature,
    permit2Authorization: {
      ...{ from, permitted: { token, amount: value }, spender, nonce, deadline: validBefore },
      witness: { to, facilitator, validAfter },
    },
  }
}

export type Receipt = NonNullable<PaymentReceipt['receipt']>
const SettlementResponse = z.looseObject({
  success: z.boolean(),
  transaction: z.string().max(200).optional().catch(undefined),
  txHash: z.string().max(200).optional().catch(undefined),
  network: z.string().max(128).optional().catch(undefined),
  payer: z.string().max(200).optional().catch(undefined),
  extensions: z.record(z.string(), z.unknown()).optional().catch(undefined),
})
/** Maximum stored size of a receipt's extensions, such as a signed receipt. */
const maxExtensionBytes = 16 * 1024

/** Parses the seller's receipt. @returns undefined if absent or invalid */
export function parseReceipt(headers: Readonly<Record<string, string>>): Receipt | undefined {
  const { v1, v2 } = paymentHeaders.receipt
  for (const header of [headers[v2], headers[v1]]) {
    if (header === undefined) continue
    const text = header.trim()
    const response = SettlementResponse.safeParse(
      parseJsonOrUndefined(text.startsWith('{') ? text : Buffer.from(text, 'base64').toString('utf8')),
    )
    if (!response.success) continue
    const { success, transaction, txHash, network, payer, extensions } = response.data
    const hash = transaction ?? txHash
    return {
      success,
      transaction: hash === undefined ? null : parseTransactionHash(hash),
      network: network ?? null,
      payer: payer ?? null,
      ...(extensions && isShortJson(extensions, maxExtensionBytes) && { extensions }),
    }
  }
  return undefined
}

/** Parses an EVM transaction hash, or the first signature of a Solana transaction: 64 bytes in base58. */
function parseTransactionHash(text: string): string | null {
  if (/^0x[0-9a-fA-F]{64}$/.test(text)) return text.toLowerCase()
  return /^[1-9A-HJ-NP-Za-km-z]{64,88}$/.test(text) ? text : null
}
