import { z } from 'zod'
import { unknownIds } from '../ids.ts'
import { IsoTime } from '../time.ts'
import { Asker } from './intents.ts'
import { Reason } from './reason.ts'
import { defineRoute } from './route.ts'

/**
 * Paying others by x402 with the wallet of the person, and looking at what was paid. Nothing here signs by itself:
 * every payment goes through approvals (`intents.ts`) and the limits below. `localPurchases.ts` buys from the own service.
 */

const tag = 'Payments'
const largest = Number.MAX_SAFE_INTEGER
const MicroUsdAmount = z.int().min(0).max(largest).describe('Micro-dollars: 1,000,000 is one US dollar.')

export const paymentLimits = {
  /** Of what is sent along with `fetch`. */
  bodyCharacters: 1024 * 1024,
  headers: 40,
  headerCharacters: 8 * 1024,
  /** Of an answer, kept with the payment. More is cut off and `truncated`. */
  answerBytes: 1024 * 1024,
  /** Limits of single hosts, and of single payees. */
  named: 200,
} as const

export const PaymentId = z
  .string()
  .regex(/^pay_[0-9a-f]{24}$/, 'must be an id that begins with pay_')
  .register(unknownIds, { code: 'payment/not-found', message: (id) => `There is no payment ${id}.` })
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

/** One way to pay that a seller offers. Text of the seller is shown as it is and believed in nothing. */
export const PaymentOffer = z.object({
  x402_version: z.union([z.literal(1), z.literal(2)]),
  scheme: z.string().describe('Steward pays `exact`, and refuses every other by name.'),
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

export const BudgetState = z.object({
  scope: z
    .enum(['payment', 'day', 'month', 'host', 'payee'])
    .describe(
      '`payment`: the most that one payment may cost. `day`: any 24 hours. `month`: the calendar month in UTC. `host`, `payee`: this one, per calendar month.',
    ),
  key: z.string().nullable().describe('The host, or network and address of the payee (`eip155:8453:0x…`).'),
  limit_micro_usd: MicroUsdAmount.nullable().describe('Null: no limit.'),
  used_micro_usd: MicroUsdAmount.describe('Paid; of `day` and `month` with what chats cost.'),
  held_micro_usd: MicroUsdAmount.describe(
    'Approved or signed, and not known yet to be paid or void. It counts as used.',
  ),
  left_micro_usd: MicroUsdAmount.nullable().describe('Null: no limit.'),
  resets_at: IsoTime.nullable().describe('When the month ends; null for `payment` and `day`.'),
})
export type BudgetState = z.infer<typeof BudgetState>

export const PaymentVerdict = z.object({
  effect: z
    .enum(['allow', 'ask', 'refuse'])
    .describe('`allow`: it would be paid at once. `ask`: you would be asked. `refuse`: it would not be paid.'),
  detail: z.string().describe('Why, in one sentence.'),
})
export type PaymentVerdict = z.infer<typeof PaymentVerdict>

/** What an address would cost. Nothing was signed or reserved for it. */
export const PaymentCheck = z.object({
  url: z.string(),
  method: z.string(),
  status: z.int().describe('What the address answered without a payment.'),
  needs_payment: z.boolean(),
  offers: z.array(PaymentOffer),
  chosen: z.int().nullable().describe('Which of `offers` Steward would pay; null: none.'),
  verdict: PaymentVerdict.nullable().describe('Of the chosen offer; null where there is nothing to pay.'),
  budgets: z.array(BudgetState).describe('The limits that the chosen offer counts against, before it is paid.'),
})
export type PaymentCheck = z.infer<typeof PaymentCheck>

/** What the seller answered. It comes from outside: show it as text, never as HTML. */
export const PaidAnswer = z.object({
  status: z.int(),
  headers: z.record(z.string(), z.string()).describe('`content-type` and a few others; no cookies.'),
  body: z.string(),
  encoding: z.enum(['utf8', 'base64']),
  truncated: z.boolean(),
})
export type PaidAnswer = z.infer<typeof PaidAnswer>

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
  asker: Asker,
  reason: z.string().nullable().describe("Why, in the asker's own words."),
  method: z.string(),
  url: z.string(),
  host: z.string(),
  scheme: z.enum(['exact', 'upto']).describe('Steward pays `exact` only.'),
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

/** Everything that is known of a payment. */
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
    })
    .nullable()
    .describe('What the seller said of the payment in `PAYMENT-RESPONSE`.'),
  reconciled_by: z.enum(['chain', 'seller']).nullable(),
  answer: PaidAnswer.nullable(),
  steps: z
    .array(z.object({ state: PaymentState, detail: z.string().nullable(), at: IsoTime }))
    .describe('What happened, oldest first.'),
})
export type PaymentReceipt = z.infer<typeof PaymentReceipt>

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
export const WaitMs = z
  .int()
  .min(0)
  .max(60_000, 'must be 0 to 60000')
  .default(0)
  .describe('How long to wait for approval and settlement before answering with what is known.')
/** Hosts are asked by name over https, or over http on this computer alone. */
const reached =
  'Only `https` addresses, and `http` on this computer, are asked; no private address behind a public name, and no redirect is followed.'

/** `payment` null: it was free. `answer` null: not there yet, or there will be none; read the payment again. */
export const PaidResult = z.object({
  payment: PaymentReceipt.nullable(),
  answer: PaidAnswer.nullable(),
})
export type PaidResult = z.infer<typeof PaidResult>

export const discoverPayments = defineRoute({
  operation: 'paymentDiscover',
  method: 'POST',
  path: '/local/payments/discover',
  summary: 'Find what a site sells by x402',
  description: `Asks, in order: \`/.well-known/x402\`, \`/.well-known/x402.json\`, \`/openapi.json\`, the address itself, \`/llms.txt\`, and says which of them answered. ${reached}`,
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
  summary: 'Read what an address costs, and whether it would be paid. Never signs',
  description: reached,
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
  summary: 'Ask an address, and pay for it where it asks for a payment',
  description: `A payment above \`max_amount_usd\` is refused; without it, the limit of one payment holds; without that, you are asked. With an \`Idempotency-Key\` a repetition finds the same payment and never pays twice. An answer with \`payment.state\` \`waiting\` needs approval: read the payment again (\`wait_ms\`) until its state is final. ${reached}`,
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
  summary: 'List payments, newest first. A client sees its own only',
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
  summary: 'Read a payment with its receipt; with `wait_ms`, as soon as its state is final',
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
  summary: 'Ask the seller and the chain now what became of a payment. Never signs',
  description: 'Steward does so by itself too. A payment that has ended is answered as it is.',
  tag,
  auth: 'client',
  params,
  body: z.object({}),
  response: PaymentReceipt,
})

const Limit = MicroUsdAmount.nullable().describe('Micro-dollars; null: no limit. 0: nothing.')
const HostLimit = z.object({
  host: z
    .string()
    .trim()
    .toLowerCase()
    .regex(
      /^[a-z0-9.-]{1,255}(:\d{1,5})?$|^\[[0-9a-f:]+\](:\d{1,5})?$/,
      'must be a host, as in api.example or 127.0.0.1:8080',
    ),
  month_micro_usd: MicroUsdAmount,
})
const PayeeLimit = z.object({
  payee: z
    .string()
    .trim()
    .toLowerCase()
    .regex(/^eip155:\d{1,18}:0x[0-9a-f]{40}$/, 'must be network and address, as in eip155:8453:0x…'),
  month_micro_usd: MicroUsdAmount,
})
const unique =
  <T>(key: (it: T) => string) =>
  (all: readonly T[]) =>
    new Set(all.map(key)).size === all.length

export const PaymentBudgetLimits = z.object({
  payment_micro_usd: Limit,
  day_micro_usd: Limit,
  month_micro_usd: Limit,
  hosts: z
    .array(HostLimit)
    .max(paymentLimits.named)
    .refine(
      unique<z.output<typeof HostLimit>>(({ host }) => host),
      'must not name a host twice',
    ),
  payees: z
    .array(PayeeLimit)
    .max(paymentLimits.named)
    .refine(
      unique<z.output<typeof PayeeLimit>>(({ payee }) => payee),
      'must not name a payee twice',
    ),
  ask_first_payee: z.boolean().describe('You are asked before the first payment to a payee, whatever rules allow.'),
})
export type PaymentBudgetLimits = z.infer<typeof PaymentBudgetLimits>

/** Day and month count everything: USDC payments, credits, renewals, and what chats cost. */
export const PaymentBudgets = z.object({
  limits: PaymentBudgetLimits,
  states: z.array(BudgetState).describe('One for each limit, and `day` and `month` in any case.'),
  payees: z
    .array(z.object({ host: z.string(), network: z.string(), pay_to: z.string(), since: IsoTime }))
    .describe('Whom each host was paid to first. Another payee of the same host on the same network is refused.'),
})
export type PaymentBudgets = z.infer<typeof PaymentBudgets>

export const getPaymentBudgets = defineRoute({
  operation: 'paymentBudgetGet',
  method: 'GET',
  path: '/local/payments/budgets',
  summary: 'Read the limits of payments, and what is left of them',
  tag,
  auth: 'person',
  response: PaymentBudgets,
})

export const changePaymentBudgets = defineRoute({
  operation: 'paymentBudgetChange',
  method: 'PUT',
  path: '/local/payments/budgets',
  summary: 'Change the limits of payments',
  description:
    'Lower limits hold at once. What allows more is confirmed as a policy that allows more: 403 `policy/confirmation`, then the sheet `confirm_policy`; in Electron a dialog opens by itself.',
  tag,
  auth: 'person',
  refusals: [409, 423],
  body: PaymentBudgetLimits,
  response: PaymentBudgets,
})

export const forgetPayee = defineRoute({
  operation: 'paymentPayeeForget',
  method: 'DELETE',
  path: '/local/payments/payees/:host',
  summary: 'Forget whom a host was paid to, so that it may name another payee. The next payment there asks',
  tag,
  auth: 'person',
  params: z.object({ host: z.string().min(1).max(262) }),
  response: z.object({ success: z.literal(true), host: z.string() }),
})

/** Of the account that pays where none is named. */
export const getWalletInfo = defineRoute({
  operation: 'walletInfo',
  method: 'GET',
  path: '/local/wallet/info',
  summary: 'Address, USDC balance and deposit link of the account that pays',
  tag: 'Wallet',
  auth: 'client',
  refusals: [409],
  query: z.object({
    network: z
      .string()
      .max(64)
      .default('eip155:8453')
      .describe('Id, slug or chain id; `eip155:31337` is the test ledger of the own service.'),
  }),
  response: z.object({
    address: z.string(),
    network: z.string(),
    network_name: z.string(),
    chain_id: z.int(),
    test: z.boolean(),
    usdc: z.string().nullable().describe('Millionths of a USDC, decimal; null: never read.'),
    usdc_balance: z.string().nullable().describe('For people: `12.50`.'),
    usdc_address: z.string(),
    source: z.enum(['live', 'stale']),
    as_of: IsoTime.nullable(),
    detail: z.string().nullable().describe('Why it is stale.'),
    deposit_link: z
      .string()
      .nullable()
      .describe('EIP-681 link that wallets open to send USDC; null for the test ledger, which has a faucet.'),
  }),
})
