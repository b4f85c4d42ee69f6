import { z } from 'zod'
import { IsoTime } from '../time.ts'
import { defineRoute } from './route.ts'
import { sandboxLimits } from './sandboxes.ts'

/** Limits of credits. Amounts in US cents. */
export const creditLimits = {
  /** Entries per page of the history. */
  page: { min: 1, max: 100, default: 20 },
  /** Range of one transfer, grant or refund: up to $1,000,000. */
  amountCents: { min: 1, max: 100_000_000 },
  noteCharacters: 200,
  /** Maximum number of days in one spending report. */
  spendingDays: 366,
} as const

const { page, amountCents } = creditLimits
const amountDemand = `must be a whole number of cents from ${amountCents.min} to ${amountCents.max}`
const AmountCents = z
  .int(amountDemand)
  .min(amountCents.min, amountDemand)
  .max(amountCents.max, amountDemand)
  .describe('Amount in whole US cents.')
const NoteText = z
  .string()
  .trim()
  .max(creditLimits.noteCharacters, `must have at most ${creditLimits.noteCharacters} characters`)
  .regex(/^[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]*$/u, 'must be one line of visible characters')
  .describe('Note shown in the histories of both accounts.')
const ToAddress = z
  .string()
  .trim()
  .min(1, 'must not be empty')
  .max(128, 'must have at most 128 characters')
  .describe('Address of a wallet linked to an account of this service (0x… or Solana), or an account id.')
const ExactCents = z.number().describe('Amount in US cents, with up to four decimals.')

/** Balance in US cents: posted, on hold and available. */
export const CreditBalance = z.object({
  balance_cents: z.int().describe('Balance in whole cents, rounded down. Includes held credits.'),
  credits_cents: z.int().describe('The same as `balance_cents`.'),
  formatted: z.string().describe('Balance in dollars: `$12.34`.'),
  held_cents: z.int().describe('Credits held by running requests, in whole cents, rounded up.'),
  available_cents: z.int().describe('Credits available to spend: the balance minus held credits, rounded down.'),
})
export type CreditBalance = z.infer<typeof CreditBalance>

export const getBalance = defineRoute({
  operation: 'creditsBalance',
  method: 'GET',
  path: '/v1/credits/balance',
  summary: 'Get your credit balance',
  description:
    'Covers the entire account: the daily limit of an API key does not reduce it. `credits.changed` on `/v1/events` reports changes.',
  tag: 'Credits',
  response: CreditBalance,
})

export const TransactionType = z
  .enum(['grant', 'top_up', 'adjustment', 'transfer_in', 'transfer_out', 'inference', 'sandbox', 'refund'])
  .describe(
    'Type of the transaction. `inference` and `sandbox` are charges. An `adjustment` raises or lowers the balance.',
  )
export type TransactionType = z.infer<typeof TransactionType>

/** Transaction of an account. Debits have negative amounts. */
export const CreditTransaction = z.object({
  id: z.string(),
  type: TransactionType,
  amount_cents: ExactCents.describe('Amount in US cents, with up to four decimals. Negative if it was spent.'),
  description: z.string().describe('Model, note or sandbox of the transaction.'),
  created_at: IsoTime,
  balance_after_cents: ExactCents.describe('Balance after this transaction, with up to four decimals.'),
  metadata: z
    .record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
    .optional()
    .describe('For a charge: tokens, price version and whether the amount is an estimate.'),
  key_id: z.string().optional().describe('Id of the API key that spent the amount.'),
  refunded_cents: ExactCents.optional().describe('Refunded amount of a charge.'),
})
export type CreditTransaction = z.infer<typeof CreditTransaction>

const limitDemand = `must be a whole number from ${page.min} to ${page.max}`
const offsetDemand = 'must be a whole number from 0 to 1000000000'

const filterText = (max: number) =>
  z.string().trim().min(1, 'must not be empty').max(max, `must have at most ${max} characters`)

/** Filters of the history, combined with AND. */
const historyFilters = {
  type: TransactionType.optional(),
  model: filterText(128).optional().describe('Returns only charges for this model.'),
  key: filterText(64).optional().describe('Returns only transactions of the API key with this id.'),
  from: IsoTime.optional().describe('Earliest time, inclusive.'),
  to: IsoTime.optional().describe('Latest time, exclusive.'),
  text: filterText(200).optional().describe('Text to find in the description, ignoring case, or a transaction id.'),
}

export const listTransactions = defineRoute({
  operation: 'creditsHistory',
  method: 'GET',
  path: '/v1/credits/history',
  summary: 'List credit transactions, newest first',
  description:
    'Pages with `limit` and `offset`; new transactions shift the offsets of older ones. Transactions match all filters.',
  tag: 'Credits',
  query: z.object({
    ...historyFilters,
    limit: z.coerce
      .number(limitDemand)
      .int(limitDemand)
      .min(page.min, limitDemand)
      .max(page.max, limitDemand)
      .default(page.default),
    offset: z.coerce
      .number(offsetDemand)
      .int(offsetDemand)
      .min(0, offsetDemand)
      .max(1_000_000_000, offsetDemand)
      .default(0),
  }),
  response: z.object({
    transactions: z.array(CreditTransaction),
    total: z.int().describe('Number of transactions in the history that match the filters.'),
    limit: z.int(),
    offset: z.int(),
  }),
})

export const exportTransactions = defineRoute({
  operation: 'creditsHistoryExport',
  method: 'GET',
  path: '/v1/credits/history/export',
  summary: 'Download the credit history as CSV, newest first',
  description:
    'Amounts are in US cents. A text cell that a spreadsheet would interpret as a formula starts with an apostrophe.',
  tag: 'Credits',
  query: z.object(historyFilters),
  response: z.unknown(),
  raw: { response: { mediaTypes: ['text/csv; charset=utf-8'], description: 'One transaction per line.' }, headers: {} },
})

/** Dimensions by which a spending report groups transactions. */
export const spendingGroupings = ['day', 'model', 'key', 'day,model'] as const
export type SpendingGrouping = (typeof spendingGroupings)[number]
const Day = z.iso.date('must be a day such as 2026-01-31')

/** Sum of the charges of one group, in cents. Null dimensions do not apply to the grouping. */
export const SpendingGroup = z.object({
  day: z.string().nullable().describe('Day in UTC, for example `2026-01-31`. Null unless grouped by day.'),
  model: z
    .string()
    .nullable()
    .describe('Name of the model. Null for transactions without a model, or unless grouped by model.'),
  key_id: z
    .string()
    .nullable()
    .describe('Id of the API key. Null for transactions without an API key, or unless grouped by key.'),
  requests: z.int().describe('Number of charges for models.'),
  inference_cents: ExactCents,
  sandboxes_cents: ExactCents,
  refunds_cents: ExactCents.describe('Refunded amount of charges, on the day of the refund.'),
  spent_cents: ExactCents.describe(
    'Amount spent on inference and sandboxes, minus refunds. Negative if refunds exceed charges.',
  ),
  sent_cents: ExactCents.describe('Amount transferred to other accounts.'),
  received_cents: ExactCents.describe('Amount transferred from other accounts.'),
})
export type SpendingGroup = z.infer<typeof SpendingGroup>

export const getSpending = defineRoute({
  operation: 'creditsSpending',
  method: 'GET',
  path: '/v1/credits/spending',
  summary: 'Get spending by day, model or API key',
  description: `Covers at most ${creditLimits.spendingDays} days. Omits groups without transactions. Grants and adjustments do not count as spending.`,
  tag: 'Credits',
  query: z.object({
    from: Day.optional().describe('First day, in UTC. Default: 29 days before `to`.'),
    to: Day.optional().describe('Last day, in UTC. Default: today.'),
    by: z.enum(spendingGroupings, `must be one of ${spendingGroupings.join(' | ')}`).default('day'),
  }),
  response: z.object({
    from: z.string(),
    to: z.string(),
    by: z.enum(spendingGroupings),
    groups: z
      .array(SpendingGroup)
      .describe('Groups in chronological order if grouped by day, otherwise highest cost first.'),
    total: SpendingGroup,
  }),
})

const { vcpu, memoryMb, diskGb } = sandboxLimits

/** Sandbox size with its price in US cents. `memory_mb` is in MiB, `disk_gb` in GiB. */
export const SandboxTier = z.object({
  name: z.string().min(1),
  vcpu: z.int().min(vcpu.min).max(vcpu.max),
  memory_mb: z.int().min(memoryMb.min).max(memoryMb.max),
  disk_gb: z.int().min(diskGb.min).max(diskGb.max),
  monthly_cents: z.int().min(0).describe('Price for 30 days of running, billed per second.'),
})
export type SandboxTier = z.infer<typeof SandboxTier>

/** Credits sold for a payment. */
export const PaymentTier = z.object({
  amount_usd: z.int().min(1).describe('Price in US dollars.'),
  credits_cents: z.int().min(1).describe('Credited amount in US cents.'),
})
export type PaymentTier = z.infer<typeof PaymentTier>

export const getPricing = defineRoute({
  operation: 'creditsPricing',
  method: 'GET',
  path: '/v1/credits/pricing',
  summary: 'Get the prices of sandboxes and credits',
  description:
    'Returns the same prices for every account. `GET /pay/{amount_usd}/{address}` sells the amounts in `payment_tiers`. `GET /v1/models` returns the prices of models.',
  tag: 'Credits',
  response: z.object({
    tiers: z
      .array(SandboxTier)
      .describe('Price tiers, smallest first. A sandbox is billed at the first tier that it fits in.'),
    pricing: z.array(SandboxTier).describe('The same as `tiers`.'),
    payment_tiers: z.array(PaymentTier),
    sandboxes_charged: z.boolean().describe('Whether this service charges for sandboxes.'),
  }),
})

const Transferred = z.object({
  transfer_id: z.string(),
  status: z.literal('completed'),
  to_address: z.string().describe('Address from the request.'),
  amount_cents: z.number(),
  balance_after_cents: ExactCents.describe('Balance of the calling account, with up to four decimals.'),
})

const onceForever =
  'With an `Idempotency-Key`, a repeated request changes nothing and returns the first response, even if that response was lost in a crash. A key identifies one transfer forever.'

export const transferCredits = defineRoute({
  operation: 'creditsTransfer',
  method: 'POST',
  path: '/v1/credits/transfer',
  aliases: ['/v1/credits/transfers'],
  summary: 'Transfer credits to another account',
  description: `${onceForever} Transfers count toward the daily limit of an API key.`,
  example: { to_address: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266', amount_cents: 125, note: 'Thanks' },
  tag: 'Credits',
  refusals: [402, 404, 503],
  body: z.object({ to_address: ToAddress, amount_cents: AmountCents, note: NoteText.optional() }),
  response: Transferred,
  idempotent: true,
})

export const grantCredits = defineRoute({
  operation: 'creditsGrant',
  method: 'POST',
  path: '/v1/credits/grants',
  summary: 'Grant new credits to an account',
  description: `${onceForever} The account can be your own. API keys with limits cannot grant credits.`,
  example: { to_address: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266', amount_cents: 500, note: 'Welcome' },
  tag: 'Credits',
  auth: 'owner',
  refusals: [404, 503],
  body: z.object({ to_address: ToAddress, amount_cents: AmountCents, note: NoteText.optional() }),
  response: Transferred,
  idempotent: true,
})

const adjustmentDemand = `must be a whole number of cents from -${amountCents.max} to ${amountCents.max}, and not 0`

export const adjustCredits = defineRoute({
  operation: 'creditsAdjust',
  method: 'POST',
  path: '/v1/credits/adjustments',
  summary: 'Raise or lower the balance of an account',
  description: `${onceForever} Fails with 402 if the new balance would be below the held credits. API keys with limits cannot adjust balances.`,
  example: { amount_cents: -500, note: 'Less for this week' },
  tag: 'Credits',
  auth: 'owner',
  refusals: [402, 404, 503],
  body: z.object({
    to_address: ToAddress.optional().describe('Linked wallet or account id. Default: your own account.'),
    amount_cents: z
      .int(adjustmentDemand)
      .min(-amountCents.max, adjustmentDemand)
      .max(amountCents.max, adjustmentDemand)
      .refine((cents) => cents !== 0, adjustmentDemand)
      .describe('Amount in whole US cents. A negative amount lowers the balance.'),
    note: NoteText.min(1, 'must not be empty').describe('Reason for the adjustment. Shown in the history.'),
  }),
  response: z.object({
    adjustment_id: z.string(),
    status: z.literal('completed'),
    account_id: z.string(),
    amount_cents: z.number(),
    balance_after_cents: ExactCents.describe('Balance of the adjusted account, with up to four decimals.'),
  }),
  idempotent: true,
})

export const refundCharge = defineRoute({
  operation: 'creditsRefund',
  method: 'POST',
  path: '/v1/credits/refunds',
  summary: 'Refund a charge, in full or in part',
  description: `${onceForever} API keys with limits cannot refund charges.`,
  example: { transaction_id: 'txn_019c13f2a4006d2f1f1c7a55', amount_cents: 4 },
  tag: 'Credits',
  auth: 'owner',
  refusals: [404, 409, 503],
  body: z.object({
    transaction_id: z.string().min(1, 'must not be empty').max(64, 'must have at most 64 characters'),
    amount_cents: AmountCents.optional().describe('Amount to refund. Default: the entire amount not yet refunded.'),
    note: NoteText.optional(),
  }),
  response: z.object({
    refund_id: z.string(),
    status: z.literal('completed'),
    transaction_id: z.string(),
    amount_cents: ExactCents,
  }),
  idempotent: true,
})
