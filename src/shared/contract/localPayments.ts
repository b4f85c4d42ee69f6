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
    .describe('`allow`: Steward would pay immediately. `ask`: Steward would ask you. `refuse`: Steward would not pay.'),
  detail: z.string().describe('Reason, in one sentence.'),
})
export type PaymentEvaluation = z.infer<typeof PaymentEvaluation>

/** Price of a URL. Nothing is signed or reserved. */
export const PaymentCheck = z.object({
  url: z.string(),
  method: z.string(),
  status: z.int().describe('HTTP status of the response without a payment.'),
  needs_payment: z.boolean(),
  offers: z.array(PaymentOffer),
  chosen: z
    .int()
    .nullable()
    .describe('Index in `offers` of the offer that Steward would pay. Null if Steward would pay none.'),
  verdict: PaymentEvaluation.nullable().describe('Evaluation of the chosen offer. Null if no payment is required.'),
  budgets: z.array(BudgetState).describe('Limits that the chosen offer counts toward, before the payment.'),
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
  .describe('Amount in US dollars, with up to 6 decimals.')

/** Maximum wait for an outcome, in milliseconds. */
export const WaitMs = z
  .int()
  .min(0)
  .max(60_000, 'must be 0 to 60000')
  .default(0)
  .describe(
    'Maximum time to wait for approval and settlement, in milliseconds. The response then contains the current state.',
  )

/** Hosts are accessed by name over https, or over http only on this computer. */
const reached =
  'Requests only `https` addresses, and `http` on this computer. Rejects public names with private addresses, and follows no redirects.'

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
  summary: 'Discover the paid endpoints of a site (x402)',
  description: `Queries, in order: \`/.well-known/x402\`, \`/.well-known/x402.json\`, \`/openapi.json\`, the address itself, \`/llms.txt\`. The response reports which of them responded. ${reached}`,
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
      .describe('Source that lists the endpoints. Null if no source lists any.'),
    source_url: z.string().nullable(),
    endpoints: z.array(
      z.object({
        url: z.string(),
        method: z.string().nullable(),
        description: z.string().nullable(),
        offers: z.array(PaymentOffer).describe('Offers of the endpoint. If empty, `check` returns them.'),
      }),
    ),
    tried: z.array(z.object({ url: z.string(), status: z.int().nullable(), detail: z.string().nullable() })),
  }),
})

export const checkPayment = defineRoute({
  operation: 'paymentCheck',
  method: 'POST',
  path: '/local/payments/check',
  summary: 'Check the price of an address and whether Steward would pay it; never signs',
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
  summary: 'Send a request to an address and pay if required',
  description: `Refuses a payment above \`max_amount_usd\`. Without it, the limit of one payment applies; without that limit, Steward asks you. A retry with the same \`Idempotency-Key\` returns the same payment and never pays twice. If \`payment.state\` is \`waiting\`, the payment needs approval: get the payment again (\`wait_ms\`) until its state is final. ${reached}`,
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
    body: z.string().max(paymentLimits.bodyCharacters).optional().describe('Request body, for POST, PUT and PATCH.'),
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
  from: IsoTime.optional().describe('Start of the time range, inclusive.'),
  to: IsoTime.optional().describe('End of the time range, exclusive.'),
  search: z.string().max(200).optional().describe('Text to search for in the title, address, payee and transaction.'),
}

export const listPayments = defineRoute({
  operation: 'paymentList',
  method: 'GET',
  path: '/local/payments',
  summary: 'List payments, newest first',
  description: `Returns at most ${page.max} payments, ${page.default} by default. For the next page, pass the last id as \`before\`. Clients see the payments that they requested; the user sees all payments.`,
  tag,
  auth: 'client',
  query: z.object({
    ...filters,
    before: PaymentId.optional().describe('Id of the last payment of the previous page. Returns only older payments.'),
    limit: z.coerce.number().int().min(page.min).max(page.max).default(page.default),
  }),
  response: z.object({
    payments: z.array(Payment),
    has_more: z.boolean(),
    total: z.int().describe('Number of payments on all pages.'),
  }),
})

export const exportPayments = defineRoute({
  operation: 'paymentExport',
  method: 'GET',
  path: '/local/payments/export',
  summary: 'Download payments as CSV or JSON Lines, oldest first',
  description:
    'Applies the filters of the payment list. In CSV, an apostrophe precedes each text cell that a spreadsheet would interpret as a formula.',
  tag,
  auth: 'person',
  query: z.object({ ...filters, format: z.enum(['csv', 'jsonl']).default('csv') }),
  response: z.unknown(),
  raw: {
    response: { mediaTypes: ['text/csv', 'application/x-ndjson'], description: 'One payment per line.' },
    headers: {},
  },
})

const params = z.object({ paymentId: PaymentId })

export const getPayment = defineRoute({
  operation: 'paymentGet',
  method: 'GET',
  path: '/local/payments/:paymentId',
  summary: 'Get a payment with its receipt; `wait_ms` waits for a final state',
  description:
    'The final states are `settled`, `refused` and `reconciled`. `unknown` is not final: the request returns it when `wait_ms` expires.',
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
  summary: 'Check the outcome of a payment now; never signs',
  description: 'Steward also checks the outcome automatically. Returns a payment in a final state unchanged.',
  example: {},
  tag,
  auth: 'client',
  params,
  body: z.object({}),
  response: PaymentReceipt,
})
