import { z } from 'zod'
import { unknownIds } from '../ids.ts'
import { IsoTime } from '../time.ts'
import { Requester } from './intents.ts'

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
export const MicroUsdAmount = z.int().min(0).max(largest).describe('Micro-dollars: 1,000,000 is one US dollar.')

/** Id of a payment: `pay_` and 24 hexadecimal digits. */
export const PaymentId = z
  .string()
  .regex(/^pay_[0-9a-f]{24}$/, 'must be an id that begins with pay_')
  .register(unknownIds, { code: 'purchase/not-found', message: (id) => `There is no payment ${id}.` })
  .brand<'PaymentId'>()
export type PaymentId = z.infer<typeof PaymentId>

export const PaymentState = z
  .enum(['planned', 'waiting', 'signed', 'sent', 'settled', 'refused', 'unknown', 'reconciled'])
  .describe(
    [
      '`planned`: the offer was checked, nothing was decided yet.',
      '`waiting`: it waits for approval, or for the wallet to be unlocked (`intent_id` is the request).',
      '`signed`: signed and kept, not sent yet.',
      '`sent`: handed to the seller, who has not answered yet. After a cut the same payment is sent again.',
      '`settled`: the seller confirmed the payment and answered.',
      '`refused`: by you, a rule, a limit, or the seller; `paid` says whether money can still move.',
      '`unknown`: sent, and the seller did not say what became of it. Steward asks the seller and the chain; it never signs a second payment.',
      '`reconciled`: it was unknown, and the chain or the seller told; `paid` says how it ended.',
    ].join(' '),
  )
export type PaymentState = z.infer<typeof PaymentState>

export const PaymentPurpose = z
  .enum(['fetch', 'domain-registration', 'domain-renewal', 'credits'])
  .describe('`fetch`: any x402 address. The others are purchases from the service that Steward is connected to.')
export type PaymentPurpose = z.infer<typeof PaymentPurpose>

/** Payment option of a seller. Its text is untrusted and only displayed. */
export const PaymentOffer = z.object({
  x402_version: z.union([z.literal(1), z.literal(2)]),
  scheme: z.string().describe('Steward pays `exact` and `upto`, and refuses every other by name.'),
  network: z.string().describe('`eip155:8453`; as the seller wrote it where Steward does not know it.'),
  network_name: z.string().nullable().describe('`Base`; null where Steward does not know the network.'),
  test: z.boolean().describe('Money on this network is worth nothing.'),
  asset: z.string().describe('Address of the token.'),
  amount: z.string().describe("In the token's smallest units, decimal."),
  amount_micro_usd: MicroUsdAmount.nullable().describe('Null where it is no token that Steward knows.'),
  pay_to: z.string(),
  max_timeout_seconds: z.int().nullable(),
  description: z.string().nullable(),
  payable: z.boolean(),
  problem: z.string().nullable().describe('Why Steward would not pay it, in one sentence.'),
})
export type PaymentOffer = z.infer<typeof PaymentOffer>

/** Response of the seller. Untrusted: must be rendered as text, never as HTML. */
export const PaidResponse = z.object({
  status: z.int(),
  headers: z.record(z.string(), z.string()).describe('`content-type` and a few others; no cookies.'),
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
      'true: the money moved. false: it did not and cannot any more. null: not known yet; until it is, the amount counts against your limits.',
    ),
  sentence: z.string().describe('State and outcome in one plain sentence.'),
  error: z.string().nullable().describe('What went wrong, in one sentence.'),
  purpose: PaymentPurpose,
  title: z.string().describe('`Register example.com for 2 years`, `GET https://api.example/report`.'),
  requester: Requester,
  reason: z.string().nullable().describe("Why, in the requester's own words."),
  method: z.string(),
  url: z.string(),
  host: z.string(),
  scheme: z
    .enum(['exact', 'upto'])
    .describe('`upto`: `amount` is the most that could be taken, `paid_micro_usd` what was.'),
  network: z.string(),
  network_name: z.string(),
  test: z.boolean().describe('Test money, worth nothing.'),
  asset: z.string(),
  from: z.string().describe('The address that pays.'),
  pay_to: z.string(),
  amount: z.string().describe('In millionths of a USDC, decimal.'),
  amount_micro_usd: MicroUsdAmount,
  paid_micro_usd: MicroUsdAmount.nullable().describe('What was really taken; null as long as that is not known.'),
  intent_id: z.string().nullable().describe('The request in Approvals.'),
  valid_until: IsoTime.nullable().describe('The signature is void afterwards; null before it is signed.'),
  transaction: z.string().nullable().describe('Hash of the transaction.'),
  transaction_url: z.string().nullable().describe('Where to look it up; null for test money.'),
  created_at: IsoTime,
  updated_at: IsoTime,
})
export type Payment = z.infer<typeof Payment>

/** Payment with all details. */
export const PaymentReceipt = Payment.extend({
  quote: z
    .object({ amount_micro_usd: MicroUsdAmount, source: z.string().describe('Who named the price: `you`, `service`.') })
    .nullable()
    .describe('The price that was expected; another offer was refused. Null: none was named.'),
  offer: PaymentOffer.describe('The offer that was paid.'),
  signature_sha256: z.string().nullable().describe('SHA-256 of the signature, hexadecimal, as in Activity.'),
  receipt: z
    .object({
      success: z.boolean(),
      transaction: z.string().nullable(),
      network: z.string().nullable(),
      payer: z.string().nullable(),
      extensions: z
        .record(z.string(), z.unknown())
        .optional()
        .describe('Extensions of x402 that the seller sent, such as a signed receipt.'),
    })
    .nullable()
    .describe('What the seller said of the payment in `PAYMENT-RESPONSE`.'),
  reconciled_by: z.enum(['chain', 'seller']).nullable(),
  answer: PaidResponse.nullable(),
  steps: z
    .array(z.object({ state: PaymentState, detail: z.string().nullable(), at: IsoTime }))
    .describe('What happened, oldest first.'),
})
export type PaymentReceipt = z.infer<typeof PaymentReceipt>
