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

const { page, amountCents, noteCharacters: noteMaxCharacters } = creditLimits
const amountDemand = `must be a whole number of cents from ${amountCents.min} to ${amountCents.max}`
const AmountCents = z
  .int(amountDemand)
  .min(amountCents.min, amountDemand)
  .max(amountCents.max, amountDemand)
  .describe('Whole US cents.')
const NoteText = z
  .string()
  .trim()
  .max(noteMaxCharacters, `must have at most ${noteMaxCharacters} characters`)
  .regex(/^[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]*$/u, 'must be one line of visible characters')
  .describe('Shown in both histories.')
const ToAddress = z
  .string()
  .trim()
  .min(1, 'must not be empty')
  .max(128, 'must have at most 128 characters')
  .describe('A wallet that is linked to an account here (0x… or Solana), or the id of an account.')
const ExactCents = z.number().describe('US cents, with up to four decimals.')

/** Balance in US cents: posted, on hold and available. */
export const CreditBalance = z.object({
  balance_cents: z.int().describe('Whole cents, rounded down. Includes what is held.'),
  credits_cents: z.int().describe('The same as `balance_cents`.'),
  formatted: z.string().describe('The same in dollars: `$12.34`.'),
  held_cents: z.int().describe('Held by running requests, in whole cents, rounded up.'),
  available_cents: z.int().describe('What can be spent now: the balance without what is held, rounded down.'),
})
export type CreditBalance = z.infer<typeof CreditBalance>

export const getBalance = defineRoute({
  operation: 'creditsBalance',
  method: 'GET',
  path: '/v1/credits/balance',
  summary: 'Read your credit balance',
  description:
    'Covers the whole account: the daily limit of an API key does not reduce it. `credits.changed` on `/v1/events` reports changes.',
  tag: 'Credits',
  response: CreditBalance,
})

export const TransactionType = z
  .enum(['grant', 'top_up', 'adjustment', 'transfer_in', 'transfer_out', 'inference', 'sandbox', 'refund'])
  .describe('`inference` and `sandbox` are charges. An `adjustment` goes either way.')
export type TransactionType = z.infer<typeof TransactionType>

/** Transaction of an account. Debits have negative amounts. */
export const CreditTransaction = z.object({
  id: z.string(),
  type: TransactionType,
  amount_cents: ExactCents.describe('US cents with up to four decimals; negative where it was spent.'),
  description: z.string().describe('The model, the note, or the sandbox.'),
  created_at: IsoTime,
  balance_after_cents: ExactCents.describe('Balance after this transaction, with up to four decimals.'),
  metadata: z
    .record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
    .optional()
    .describe('For a charge: tokens, price version and whether it is an estimate.'),
  key_id: z.string().optional().describe('The API key that spent it.'),
  refunded_cents: ExactCents.optional().describe('Of a charge: how much of it was given back.'),
})
export type CreditTransaction = z.infer<typeof CreditTransaction>

const limitDemand = `must be a whole number from ${page.min} to ${page.max}`
const offsetDemand = 'must be a whole number from 0 to 1000000000'

const filterText = (max: number) =>
  z.string().trim().min(1, 'must not be empty').max(max, `must have at most ${max} characters`)

/** Filters of the history, combined with AND. */
const historyFilters = {
  type: TransactionType.optional(),
  model: filterText(128).optional().describe('Charges for this model.'),
  key: filterText(64).optional().describe('What this API key spent, by its id.'),
  from: IsoTime.optional().describe('Not before this time.'),
  to: IsoTime.optional().describe('Before this time.'),
  text: filterText(200).optional().describe('In the description, upper and lower case alike; or the id.'),
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
    total: z.int().describe('Of the whole history, or of what the filters leave of it.'),
    limit: z.int(),
    offset: z.int(),
  }),
})

export const exportTransactions = defineRoute({
  operation: 'creditsHistoryExport',
  method: 'GET',
  path: '/v1/credits/history/export',
  summary: 'Download the history as CSV, newest first',
  description:
    'Amounts are US cents. A cell of text that a spreadsheet would take for a formula has an apostrophe in front.',
  tag: 'Credits',
  query: z.object(historyFilters),
  response: z.unknown(),
  raw: { response: { mediaTypes: ['text/csv; charset=utf-8'], description: 'One transaction a line.' }, headers: {} },
})

export const spendingGroupings = ['day', 'model', 'key', 'day,model'] as const
export type SpendingGrouping = (typeof spendingGroupings)[number]
const Day = z.iso.date('must be a day such as 2026-01-31')

export const SpendingGroup = z.object({
  day: z.string().nullable().describe('Of UTC, `2026-01-31`; null unless it is grouped by day.'),
  model: z.string().nullable().describe('Null for what is not about a model, or unless it is grouped by model.'),
  key_id: z.string().nullable().describe('Null for what no API key spent, or unless it is grouped by key.'),
  requests: z.int().describe('Charges for models.'),
  inference_cents: ExactCents,
  sandboxes_cents: ExactCents,
  refunds_cents: ExactCents.describe('What was given back of charges, on the day of the refund.'),
  spent_cents: ExactCents.describe('Inference and sandboxes, without what was refunded. Negative where more was.'),
  sent_cents: ExactCents.describe('Transferred to other accounts.'),
  received_cents: ExactCents.describe('Transferred from other accounts.'),
})
export type SpendingGroup = z.infer<typeof SpendingGroup>

export const getSpending = defineRoute({
  operation: 'creditsSpending',
  method: 'GET',
  path: '/v1/credits/spending',
  summary: 'Sum up what was spent, by day, model or API key',
  description: `At most ${creditLimits.spendingDays} days. Groups without transactions are left out. Grants and adjustments are not spending.`,
  tag: 'Credits',
  query: z.object({
    from: Day.optional().describe('First day, in UTC. Absent: 29 days before `to`.'),
    to: Day.optional().describe('Last day, in UTC. Absent: today.'),
    by: z.enum(spendingGroupings, `must be one of ${spendingGroupings.join(' | ')}`).default('day'),
  }),
  response: z.object({
    from: z.string(),
    to: z.string(),
    by: z.enum(spendingGroupings),
    groups: z.array(SpendingGroup).describe('Days in their order; otherwise what cost most comes first.'),
    total: SpendingGroup,
  }),
})

const { vcpu, memoryMb, diskGb } = sandboxLimits

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
  amount_usd: z.int().min(1).describe('What is paid.'),
  credits_cents: z.int().min(1).describe('What is credited.'),
})
export type PaymentTier = z.infer<typeof PaymentTier>

export const getPricing = defineRoute({
  operation: 'creditsPricing',
  method: 'GET',
  path: '/v1/credits/pricing',
  summary: 'Get the prices of sandboxes and credits',
  description:
    'Returns the same for every account. `GET /pay/{amount_usd}/{address}` sells the amounts of `payment_tiers`. `GET /v1/models` has the prices of models.',
  tag: 'Credits',
  response: z.object({
    tiers: z.array(SandboxTier).describe('Smallest first. A sandbox is billed at the first tier that it fits in.'),
    pricing: z.array(SandboxTier).describe('The same as `tiers`.'),
    payment_tiers: z.array(PaymentTier),
    sandboxes_charged: z.boolean().describe('Whether this service charges for sandboxes at all.'),
  }),
})

const Transferred = z.object({
  transfer_id: z.string(),
  status: z.literal('completed'),
  to_address: z.string().describe('The address that was sent.'),
  amount_cents: z.number(),
  balance_after_cents: ExactCents.describe('Balance of the calling account, with up to four decimals.'),
})

const onceForever =
  'With an `Idempotency-Key`, a repetition changes nothing and gets the same answer, also when the first answer was lost in a crash. A key stands for one transfer forever.'

export const transferCredits = defineRoute({
  operation: 'creditsTransfer',
  method: 'POST',
  path: '/v1/credits/transfer',
  aliases: ['/v1/credits/transfers'],
  summary: 'Give credits to another account',
  description: `${onceForever} The daily limit of an API key counts transfers too.`,
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
  summary: 'Give new credits to an account, your own included',
  description: `${onceForever} An API key with limits may not.`,
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
  description: `${onceForever} Never below what is held: 402 then. An API key with limits may not.`,
  example: { amount_cents: -500, note: 'Less for this week' },
  tag: 'Credits',
  auth: 'owner',
  refusals: [402, 404, 503],
  body: z.object({
    to_address: ToAddress.optional().describe('A linked wallet or the id of an account. Absent: your own account.'),
    amount_cents: z
      .int(adjustmentDemand)
      .min(-amountCents.max, adjustmentDemand)
      .max(amountCents.max, adjustmentDemand)
      .refine((cents) => cents !== 0, adjustmentDemand)
      .describe('Whole US cents; negative lowers the balance.'),
    note: NoteText.min(1, 'must not be empty').describe('Why. Shown in the history.'),
  }),
  response: z.object({
    adjustment_id: z.string(),
    status: z.literal('completed'),
    account_id: z.string(),
    amount_cents: z.number(),
    balance_after_cents: ExactCents.describe('Of the adjusted account, with up to four decimals.'),
  }),
  idempotent: true,
})

export const refundCharge = defineRoute({
  operation: 'creditsRefund',
  method: 'POST',
  path: '/v1/credits/refunds',
  summary: 'Refund a charge, in full or in part',
  description: `${onceForever} An API key with limits may not.`,
  example: { transaction_id: 'txn_019c13f2a4006d2f1f1c7a55', amount_cents: 4 },
  tag: 'Credits',
  auth: 'owner',
  refusals: [404, 409, 503],
  body: z.object({
    transaction_id: z.string().min(1, 'must not be empty').max(64, 'must have at most 64 characters'),
    amount_cents: AmountCents.optional().describe('Default: everything that is not refunded yet.'),
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
