import { z } from 'zod'
import { unknownIds } from '../ids.ts'
import { IsoTime } from '../time.ts'
import { Requester } from './intents.ts'

/** Limits of paid requests and their stored responses. Sizes are in characters or bytes. */
export const paymentLimits = {
  /** Maximum length of a request body sent by `fetch`. */
  bodyCharacters: 1024 * 1024,
  headers: 40,
  headerCharacters: 8 * 1024,
  /** Maximum stored bytes of a response. Longer responses are truncated and marked `truncated`. */
  answerBytes: 1024 * 1024,
  /** Number of limits for single hosts, and for single payees. */
  named: 200,
} as const

const largest = Number.MAX_SAFE_INTEGER
/** Amount in micro-dollars: 1,000,000 is one US dollar. At least 0. */
export const MicroUsdAmount = z
  .int()
  .min(0)
  .max(largest)
  .describe('Amount in micro-dollars: 1,000,000 is one US dollar.')

/** Id of a payment: `pay_` and 24 hexadecimal digits. */
export const PaymentId = z
  .string()
  .regex(/^pay_[0-9a-f]{24}$/, 'must be an id that begins with pay_')
  .register(unknownIds, { code: 'purchase/not-found', message: (id) => `There is no payment ${id}.` })
  .brand<'PaymentId'>()
export type PaymentId = z.infer<typeof PaymentId>

/** State of a payment. `settled` and `reconciled` are final, and `refused` is final once `paid` is known. */
export const PaymentState = z
  .enum(['planned', 'waiting', 'signed', 'sent', 'settled', 'refused', 'unknown', 'reconciled'])
  .describe(
    [
      '`planned`: the offer was checked. Nothing is decided yet.',
      '`waiting`: waits for an approval, or for the wallet to be unlocked. `intent_id` is the request.',
      '`signed`: signed and stored, not sent yet.',
      '`sent`: sent to the seller, who has not responded yet. After an interruption, the same payment is sent again.',
      '`settled`: the seller confirmed the payment and responded.',
      '`refused`: refused by the user, a rule, a limit or the seller. `paid` indicates whether money can still be moved.',
      '`unknown`: sent, and the seller did not report the outcome. Steward looks it up at the seller and on the chain, and never signs a second payment.',
      '`reconciled`: the outcome was unknown, and the chain determined it. `paid` indicates whether money was moved.',
    ].join(' '),
  )
export type PaymentState = z.infer<typeof PaymentState>

/** Item that a payment buys. */
export const PaymentPurpose = z
  .enum(['fetch', 'domain-registration', 'domain-renewal', 'credits'])
  .describe('`fetch`: a payment to any x402 address. The other values are purchases from the connected service.')
export type PaymentPurpose = z.infer<typeof PaymentPurpose>

/** Payment option of a seller. Its text is untrusted and only displayed. */
export const PaymentOffer = z.object({
  x402_version: z.union([z.literal(1), z.literal(2)]),
  scheme: z.string().describe('Payment scheme. Steward pays `exact` and `upto`, and refuses all others by name.'),
  network: z.string().describe('Network id, such as `eip155:8453`. For an unknown network, the value from the seller.'),
  network_name: z.string().nullable().describe('Name of the network, such as `Base`. Null if the network is unknown.'),
  test: z.boolean().describe('Whether the network is a testnet, on which money has no value.'),
  asset: z.string().describe('Address of the token.'),
  amount: z.string().describe('Amount in the smallest units of the token, as a decimal string.'),
  amount_micro_usd: MicroUsdAmount.nullable().describe('Amount in micro-dollars. Null if the token is unknown.'),
  pay_to: z.string(),
  max_timeout_seconds: z.int().nullable(),
  description: z.string().nullable(),
  payable: z.boolean(),
  problem: z.string().nullable().describe('Reason why Steward would not pay the offer, in one sentence.'),
})
export type PaymentOffer = z.infer<typeof PaymentOffer>

/** Response of the seller. Untrusted: must be rendered as text, never as HTML. */
export const PaidResponse = z.object({
  status: z.int(),
  headers: z
    .record(z.string(), z.string())
    .describe('Response headers: `content-type` and a few others, without cookies.'),
  body: z.string(),
  encoding: z.enum(['utf8', 'base64']),
  truncated: z.boolean(),
})
export type PaidResponse = z.infer<typeof PaidResponse>

/** Payment in a list. `GET /local/payments/:paymentId` adds the receipt. */
export const Payment = z.object({
  id: PaymentId,
  state: PaymentState,
  paid: z
    .boolean()
    .nullable()
    .describe(
      '`true`: the money moved. `false`: the money did not move and can no longer move. `null`: unknown; until the outcome is known, the amount counts toward your limits.',
    ),
  sentence: z.string().describe('State and outcome, in one sentence.'),
  error: z.string().nullable().describe('Error message, in one sentence.'),
  purpose: PaymentPurpose,
  title: z
    .string()
    .describe('Title of the payment, such as `Register example.com for 2 years` or `GET https://api.example/report`.'),
  requester: Requester,
  reason: z.string().nullable().describe('Reason, as stated by the requester.'),
  method: z.string(),
  url: z.string(),
  host: z.string(),
  scheme: z
    .enum(['exact', 'upto'])
    .describe('`upto`: `amount` is the maximum charge, and `paid_micro_usd` is the actual charge.'),
  network: z.string(),
  network_name: z.string(),
  test: z.boolean().describe('Whether the payment uses test money, which has no value.'),
  asset: z.string(),
  from: z.string().describe('Address of the payer.'),
  pay_to: z.string(),
  amount: z.string().describe('Amount in millionths of a USDC, as a decimal string.'),
  amount_micro_usd: MicroUsdAmount,
  paid_micro_usd: MicroUsdAmount.nullable().describe('Amount actually charged. Null while unknown.'),
  intent_id: z.string().nullable().describe('Id of the intent in Approvals.'),
  valid_until: IsoTime.nullable().describe('Time at which the signature expires. Null before the payment is signed.'),
  transaction: z.string().nullable().describe('Hash of the transaction.'),
  transaction_url: z.string().nullable().describe('Link to the transaction in a block explorer. Null for test money.'),
  created_at: IsoTime,
  updated_at: IsoTime,
})
export type Payment = z.infer<typeof Payment>

/** Payment with all details. */
export const PaymentReceipt = Payment.extend({
  quote: z
    .object({
      amount_micro_usd: MicroUsdAmount,
      source: z.string().describe('Source of the price: `you` or `service`.'),
    })
    .nullable()
    .describe('Expected price; Steward refuses any other offer. Null if no price was given.'),
  offer: PaymentOffer.describe('Offer that was paid.'),
  signature_sha256: z.string().nullable().describe('SHA-256 of the signature, in hexadecimal, as shown in Activity.'),
  receipt: z
    .object({
      success: z.boolean(),
      transaction: z.string().nullable(),
      network: z.string().nullable(),
      payer: z.string().nullable(),
      extensions: z
        .record(z.string(), z.unknown())
        .optional()
        .describe('x402 extensions from the seller, such as a signed receipt.'),
    })
    .nullable()
    .describe('Payment result from the `PAYMENT-RESPONSE` header of the seller.'),
  reconciled_by: z.literal('chain').nullable().describe('Source that determined an unknown outcome.'),
  answer: PaidResponse.nullable(),
  steps: z
    .array(z.object({ state: PaymentState, detail: z.string().nullable(), at: IsoTime }))
    .describe('Events of the payment, oldest first.'),
})
export type PaymentReceipt = z.infer<typeof PaymentReceipt>
