import { z } from 'zod'
import { IsoTime } from '../time.ts'
import { BudgetState } from './paymentBudgets.ts'
import {
  PaidResponse,
  Payment,
  PaymentId,
  PaymentOffer,
  PaymentReceipt,
  PaymentState,
  paymentLimits,
} from './paymentRecords.ts'
import { Reason } from './reason.ts'
import { defineRoute } from './route.ts'

/**
 * x402 payments to third parties with the user's wallet, and their records. Nothing is signed without approval
 * (`intents.ts`), and every payment is subject to the limits of `paymentBudgets.ts`. `localPurchases.ts` buys from the
 * user's own service.
 */

const tag = 'Payments'

/** Policy evaluation of a payment. */
export const PaymentEvaluation = z.object({
  effect: z
    .enum(['allow', 'ask', 'refuse'])
    .describe('`allow`: it would be paid at once. `ask`: you would be asked. `refuse`: it would not be paid.'),
  detail: z.string().describe('Why, in one sentence.'),
})
export type PaymentEvaluation = z.infer<typeof PaymentEvaluation>

/** Price of a URL. Nothing is signed or reserved. */
export const PaymentCheck = z.object({
  url: z.string(),
  method: z.string(),
  status: z.int().describe('What the address answered without a payment.'),
  needs_payment: z.boolean(),
  offers: z.array(PaymentOffer),
  chosen: z.int().nullable().describe('Which of `offers` Steward would pay; null: none.'),
  verdict: PaymentEvaluation.nullable().describe('Of the chosen offer; null where there is nothing to pay.'),
  budgets: z.array(BudgetState).describe('The limits that the chosen offer counts against, before it is paid.'),
})
export type PaymentCheck = z.infer<typeof PaymentCheck>

const Url = z.url('must be an address').max(2048, 'must have at most 2048 characters')

const MethodName = z
  .string()
  .trim()
  .toUpperCase()
  .pipe(z.enum(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'], 'must be GET, HEAD, POST, PUT, PATCH or DELETE'))
  .default('GET')

const Usd = z
  .number()
  .positive('must be above 0')
  .max(1_000_000_000, 'must be at most 1000000000')
  .describe('US dollars, with up to 6 decimals.')

/** Maximum wait for an outcome, in milliseconds. */
export const WaitMs = z
  .int()
  .min(0)
  .max(60_000, 'must be 0 to 60000')
  .default(0)
  .describe('How long to wait for approval and settlement before answering with what is known.')

/** Hosts are accessed by name over https, or over http only on this computer. */
const reached =
  'Only `https` addresses, and `http` on this computer, are asked; no private address behind a public name, and no redirect is followed.'

/**
 * `payment` is null if the resource was free. `answer` is null if there is no response yet or there will be none; read
 * the payment again.
 */
export const PaidResult = z.object({
  payment: PaymentReceipt.nullable(),
  answer: PaidResponse.nullable(),
})
export type PaidResult = z.infer<typeof PaidResult>

export const discoverPayments = defineRoute({
  operation: 'paymentDiscover',
  method: 'POST',
  path: '/local/payments/discover',
  summary: 'Find what a site sells by x402',
  description: `Asks, in order: \`/.well-known/x402\`, \`/.well-known/x402.json\`, \`/openapi.json\`, the address itself, \`/llms.txt\`, and says which of them answered. ${reached}`,
  example: { url: 'https://api.example.com/' },
  tag,
  auth: 'client',
  refusals: [502],
  body: z.object({ url: Url }),
  response: z.object({
    url: z.string(),
    source: z
      .enum(['well-known', 'openapi', 'probe', 'llms'])
      .nullable()
      .describe('What told of the endpoints; null: nothing did.'),
    source_url: z.string().nullable(),
    endpoints: z.array(
      z.object({
        url: z.string(),
        method: z.string().nullable(),
        description: z.string().nullable(),
        offers: z.array(PaymentOffer).describe('Empty: `check` tells.'),
      }),
    ),
    tried: z.array(z.object({ url: z.string(), status: z.int().nullable(), detail: z.string().nullable() })),
  }),
})

export const checkPayment = defineRoute({
  operation: 'paymentCheck',
  method: 'POST',
  path: '/local/payments/check',
  summary: 'Get the price of an address, and whether it would be paid; never signs',
  description: reached,
  example: { url: 'https://api.example.com/report' },
  tag,
  auth: 'client',
  refusals: [502],
  body: z.object({ url: Url, method: MethodName }),
  response: PaymentCheck,
})

export const fetchPaid = defineRoute({
  operation: 'paymentFetch',
  method: 'POST',
  path: '/local/payments/fetch',
  summary: 'Send a request to an address, and pay if it requires a payment',
  description: `A payment above \`max_amount_usd\` is refused; without it, the limit of one payment holds; without that, you are asked. With an \`Idempotency-Key\` a repetition finds the same payment and never pays twice. An answer with \`payment.state\` \`waiting\` needs approval: read the payment again (\`wait_ms\`) until its state is final. ${reached}`,
  example: {
    url: 'https://api.example.com/report',
    max_amount_usd: 0.05,
    reason: 'To compare prices.',
    wait_ms: 30_000,
  },
  tag,
  auth: 'client',
  refusals: [402, 403, 409, 502],
  idempotent: true,
  maxBodyBytes: 8 * 1024 ** 2,
  body: z.object({
    url: Url,
    method: MethodName,
    headers: z
      .record(z.string().max(256), z.string().max(paymentLimits.headerCharacters))
      .refine((all) => Object.keys(all).length <= paymentLimits.headers, `must have at most ${paymentLimits.headers}`)
      .default({}),
    body: z.string().max(paymentLimits.bodyCharacters).optional().describe('For POST, PUT and PATCH.'),
    max_amount_usd: Usd.optional(),
    reason: Reason.optional(),
    wait_ms: WaitMs,
  }),
  response: PaidResult,
})

const page = { min: 1, max: 200, default: 50 } as const

const filters = {
  state: PaymentState.optional(),
  host: z.string().max(255).optional(),
  from: IsoTime.optional().describe('Made at this time or later.'),
  to: IsoTime.optional().describe('Made before this time.'),
  search: z.string().max(200).optional().describe('In the title, the address, the payee or the transaction.'),
}

export const listPayments = defineRoute({
  operation: 'paymentList',
  method: 'GET',
  path: '/local/payments',
  summary: 'List payments, newest first',
  description: `Returns at most ${page.max} payments, ${page.default} by default; pass the last id as \`before\` for the next page. Clients see the payments that they requested, the user sees all.`,
  tag,
  auth: 'client',
  query: z.object({
    ...filters,
    before: PaymentId.optional().describe('Only older ones: the last one of the page before.'),
    limit: z.coerce.number().int().min(page.min).max(page.max).default(page.default),
  }),
  response: z.object({
    payments: z.array(Payment),
    has_more: z.boolean(),
    total: z.int().describe('Of all pages.'),
  }),
})

export const exportPayments = defineRoute({
  operation: 'paymentExport',
  method: 'GET',
  path: '/local/payments/export',
  summary: 'Download payments as CSV or JSON Lines, oldest first',
  description: 'In CSV a cell of text that a spreadsheet would take for a formula has an apostrophe in front.',
  tag,
  auth: 'person',
  query: z.object({ ...filters, format: z.enum(['csv', 'jsonl']).default('csv') }),
  response: z.unknown(),
  raw: {
    response: { mediaTypes: ['text/csv', 'application/x-ndjson'], description: 'One payment a line.' },
    headers: {},
  },
})

const params = z.object({ paymentId: PaymentId })

export const getPayment = defineRoute({
  operation: 'paymentGet',
  method: 'GET',
  path: '/local/payments/:paymentId',
  summary: 'Get a payment with its receipt; with `wait_ms`, once its state is final',
  description: 'Final are `settled`, `refused` and `reconciled`. `unknown` is not: it answers when the time is up.',
  tag,
  auth: 'client',
  params,
  query: z.object({
    wait_ms: z.coerce.number('must be a number').int().min(0).max(60_000, 'must be 0 to 60000').default(0),
  }),
  response: PaymentReceipt,
})

export const reconcilePayment = defineRoute({
  operation: 'paymentReconcile',
  method: 'POST',
  path: '/local/payments/:paymentId/reconcile',
  summary: 'Look up the outcome of a payment now; never signs',
  description: 'Steward does so by itself too. A payment that has ended is answered as it is.',
  example: {},
  tag,
  auth: 'client',
  params,
  body: z.object({}),
  response: PaymentReceipt,
})
