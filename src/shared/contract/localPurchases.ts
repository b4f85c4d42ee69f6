import { z } from 'zod'
import { domainLimits } from './domainSearch.ts'
import { Nameservers } from './domains.ts'
import { PaidResult, PaymentCheck, WaitMs } from './localPayments.ts'
import { Reason } from './reason.ts'
import { defineRoute } from './route.ts'

/**
 * Purchases from the connected service, one operation each: price, limits, approval, payment, response. `answer.body`
 * is the JSON response of the service (`domains.ts`, `payments.ts`). A refusal has a reason and costs nothing. A
 * request repeated with the same `Idempotency-Key` finds the same payment.
 */

const tag = 'Payments'
const { min, max } = domainLimits.years
const Years = z.int().min(min, `must be from ${min} to ${max}`).max(max, `must be from ${min} to ${max}`).default(1)
const DomainName = z
  .string()
  .trim()
  .toLowerCase()
  .min(3, 'must have from 3 to 253 characters')
  .max(253, 'must have from 3 to 253 characters')
const Price = z
  .number()
  .positive('must be above 0')
  .max(1_000_000, 'must be at most 1000000')
  .optional()
  .describe('Total price that you were shown, in US dollars. Any other price is refused. Default: the current price.')
const purchaseFields = { reason: Reason.optional(), wait_ms: WaitMs }
const DomainRegistration = z.object({
  domain: DomainName,
  years: Years,
  privacy: z.boolean().default(true),
  nameservers: Nameservers.optional(),
  sandbox_id: z.string().max(64).optional().describe('Your sandbox that the domain points to immediately.'),
  sandbox_port: z.int().min(1).max(65_535).optional().describe('Exposed port of the sandbox.'),
})
const Renewal = z.object({ domain: DomainName, years: Years })
const TopUp = z.object({
  amount_usd: z
    .int()
    .min(1)
    .max(999_999_999)
    .describe('One of the `payment_tiers` of `GET /v1/credits/pricing`, in US dollars.'),
})
const bought = {
  tag,
  auth: 'client',
  refusals: [402, 403, 404, 409, 502, 503],
  idempotent: true,
  response: PaidResult,
} as const

export const quotePurchase = defineRoute({
  operation: 'localPurchaseQuote',
  method: 'POST',
  path: '/local/payments/quote',
  summary: 'Check the price of a purchase and whether Steward would pay it; never signs',
  description:
    'Requires exactly one of `registration`, `renewal` and `topup`. The price is `amount_micro_usd` of the chosen offer.',
  example: { registration: { domain: 'example.com', years: 2 } },
  tag,
  auth: 'client',
  refusals: [404, 409, 502, 503],
  body: z
    .object({ registration: DomainRegistration.optional(), renewal: Renewal.optional(), topup: TopUp.optional() })
    .refine(
      (fields) => Object.values(fields).filter((it) => it !== undefined).length === 1,
      'must have exactly one of registration, renewal and topup',
    ),
  response: PaymentCheck,
})

export const buyRegistration = defineRoute({
  operation: 'localDomainRegister',
  method: 'POST',
  path: '/local/payments/domains/register',
  summary: 'Register a domain at the service with a payment from the wallet',
  description:
    'If the registrar refuses after the payment, the amount becomes credits. A denied request returns a payment with `state` `refused`. Fails with 409 `purchase/price` if the price differs from `price_usd`, or 402 `budget/exceeded`.',
  example: { domain: 'example.com', years: 2, price_usd: 22.9, wait_ms: 30_000 },
  ...bought,
  body: DomainRegistration.extend({ price_usd: Price, ...purchaseFields }),
})

export const buyRenewal = defineRoute({
  operation: 'localDomainRenew',
  method: 'POST',
  path: '/local/payments/domains/renew',
  summary: 'Renew a domain at the service with a payment from the wallet',
  description:
    'Send an `Idempotency-Key`: each request without one can renew for further years. Fails with 409 `domain/renewed` if another renewal comes first, or 409 `purchase/price` if the price differs from `price_usd`.',
  example: { domain: 'example.com', years: 1, price_usd: 11.45, wait_ms: 30_000 },
  ...bought,
  body: Renewal.extend({ price_usd: Price, ...purchaseFields }),
})

export const buyTopUp = defineRoute({
  operation: 'localCreditsTopUp',
  method: 'POST',
  path: '/local/payments/topup',
  summary: 'Buy credits at the service with a payment from the wallet',
  description:
    'Send an `Idempotency-Key`: each request without one is another purchase. Fails with 400 `payments/tier` for an amount that is not sold, or 402 `budget/exceeded`.',
  example: { amount_usd: 5, wait_ms: 30_000 },
  ...bought,
  body: TopUp.extend(purchaseFields),
})
