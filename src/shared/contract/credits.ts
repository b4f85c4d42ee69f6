import { z } from 'zod'
import { IsoTime } from '../time.ts'
import { defineRoute } from './route.ts'
import { sandboxLimits } from './sandboxes.ts'

export const creditLimits = {
  /** Entries of one page of the history. */
  page: { min: 1, max: 100, default: 20 },
  /** Of one transfer, grant or refund: $1,000,000. */
  amountCents: { min: 1, max: 100_000_000 },
  noteCharacters: 200,
} as const

const { page, amountCents, noteCharacters } = creditLimits
const amountDemand = `must be a whole number of cents from ${amountCents.min} to ${amountCents.max}`
const AmountCents = z
  .int(amountDemand)
  .min(amountCents.min, amountDemand)
  .max(amountCents.max, amountDemand)
  .describe('Whole US cents.')
const Note = z
  .string()
  .trim()
  .max(noteCharacters, `must have at most ${noteCharacters} characters`)
  .regex(/^[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]*$/u, 'must be one line of visible characters')
  .describe('Shown in both histories.')
const ToAddress = z
  .string()
  .trim()
  .min(1, 'must not be empty')
  .max(128, 'must have at most 128 characters')
  .describe('A wallet that is linked to an account here (0x… or Solana), or the id of an account.')
const ExactCents = z.number().describe('US cents, with up to four decimals.')

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
  tag: 'Credits',
  response: CreditBalance,
})

export const TransactionType = z
  .enum(['grant', 'top_up', 'transfer_in', 'transfer_out', 'inference', 'sandbox', 'refund'])
  .describe('`inference` and `sandbox` are charges.')
export type TransactionType = z.infer<typeof TransactionType>

export const CreditTransaction = z.object({
  id: z.string(),
  type: TransactionType,
  amount_cents: ExactCents.describe('US cents with up to four decimals; negative where it was spent.'),
  description: z.string().describe('The model, the note, or the sandbox.'),
  created_at: IsoTime,
  balance_after_cents: ExactCents.describe('The balance after it, with up to four decimals: a running sum.'),
  metadata: z
    .record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
    .optional()
    .describe('Of a charge: tokens, price version, whether it is an estimate.'),
})
export type CreditTransaction = z.infer<typeof CreditTransaction>

const limitDemand = `must be a whole number from ${page.min} to ${page.max}`
const offsetDemand = 'must be a whole number from 0 to 1000000000'

export const listTransactions = defineRoute({
  operation: 'creditsHistory',
  method: 'GET',
  path: '/v1/credits/history',
  summary: 'List what was spent, received and granted, newest first',
  tag: 'Credits',
  query: z.object({
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
    total: z.int().describe('Of the whole history.'),
    limit: z.int(),
    offset: z.int(),
  }),
})

const { vcpu, memoryMb, diskGb } = sandboxLimits

export const SandboxTier = z.object({
  name: z.string().min(1),
  vcpu: z.int().min(vcpu.min).max(vcpu.max),
  memory_mb: z.int().min(memoryMb.min).max(memoryMb.max),
  disk_gb: z.int().min(diskGb.min).max(diskGb.max),
  monthly_cents: z.int().min(0).describe('For 30 days of running; counted by the second.'),
})
export type SandboxTier = z.infer<typeof SandboxTier>

export const PaymentTier = z.object({
  amount_usd: z.int().min(1).describe('What is paid.'),
  credits_cents: z.int().min(1).describe('What is credited.'),
})
export type PaymentTier = z.infer<typeof PaymentTier>

export const getPricing = defineRoute({
  operation: 'creditsPricing',
  method: 'GET',
  path: '/v1/credits/pricing',
  summary: 'Read what sandboxes cost, and what credits cost',
  tag: 'Credits',
  response: z.object({
    tiers: z.array(SandboxTier).describe('Small to large. A sandbox costs the first one that it fits in.'),
    pricing: z.array(SandboxTier).describe('The same as `tiers`.'),
    payment_tiers: z.array(PaymentTier),
    sandboxes_charged: z.boolean().describe('Whether this service charges for sandboxes at all.'),
  }),
})

const Transferred = z.object({
  transfer_id: z.string(),
  status: z.literal('completed'),
  to_address: z.string().describe('As it was given.'),
  amount_cents: z.number(),
  balance_after_cents: ExactCents.describe('Of the account that asked, with up to four decimals.'),
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
  tag: 'Credits',
  refusals: [402, 404, 503],
  body: z.object({ to_address: ToAddress, amount_cents: AmountCents, note: Note.optional() }),
  response: Transferred,
  idempotent: true,
})

export const grantCredits = defineRoute({
  operation: 'creditsGrant',
  method: 'POST',
  path: '/v1/credits/grants',
  summary: 'Give new credits to an account, your own included',
  description: `${onceForever} An API key with limits may not.`,
  tag: 'Credits',
  auth: 'owner',
  refusals: [404, 503],
  body: z.object({ to_address: ToAddress, amount_cents: AmountCents, note: Note.optional() }),
  response: Transferred,
  idempotent: true,
})

export const refundCharge = defineRoute({
  operation: 'creditsRefund',
  method: 'POST',
  path: '/v1/credits/refunds',
  summary: 'Give back what a charge took, all or a part of it',
  description: `${onceForever} An API key with limits may not.`,
  tag: 'Credits',
  auth: 'owner',
  refusals: [404, 409, 503],
  body: z.object({
    transaction_id: z.string().min(1, 'must not be empty').max(64, 'must have at most 64 characters'),
    amount_cents: AmountCents.optional().describe('Absent: all that was not refunded before.'),
    note: Note.optional(),
  }),
  response: z.object({
    refund_id: z.string(),
    status: z.literal('completed'),
    transaction_id: z.string(),
    amount_cents: ExactCents,
  }),
  idempotent: true,
})
