import { z } from 'zod'
import { IsoTime } from '../time.ts'
import { Currency, domainLimits, Usd } from './domainSearch.ts'
import { domainParams, domainRefusals, Nameservers } from './domains.ts'
import { x402 } from './payments.ts'
import { defineRoute } from './route.ts'

const Years = z
  .int(`must be a whole number from ${domainLimits.years.min} to ${domainLimits.years.max}`)
  .min(domainLimits.years.min, `must be from ${domainLimits.years.min} to ${domainLimits.years.max}`)
  .max(domainLimits.years.max, `must be from ${domainLimits.years.min} to ${domainLimits.years.max}`)
  .default(1)

const QuoteId = z
  .string()
  .max(64)
  .optional()
  .describe('Id of a quote from POST /domains/quotes. The order is refused if the price has risen since.')

/** Price of an order, valid for 15 minutes. */
export const DomainQuote = z.object({
  quote_id: z.string(),
  domain: z.string(),
  unicode: z.string().describe('Name in Unicode, for display.'),
  type: z.enum(['registration', 'renewal']),
  years: z.int(),
  premium: z.boolean().describe('Whether the name costs more than usual for its top-level domain.'),
  amount: Usd.describe(
    'Price in US dollars for all years. The 402 response of the order requests exactly this amount.',
  ),
  first_year: Usd,
  later_year: Usd,
  currency: Currency,
  registrar: z.string(),
  test: z.boolean().describe('Whether the name exists on this computer only.'),
  expires_at: IsoTime.describe('Time at which the quote expires.'),
})
export type DomainQuote = z.infer<typeof DomainQuote>

export const quoteDomain = defineRoute({
  operation: 'domainQuote',
  method: 'POST',
  path: '/domains/quotes',
  aliases: ['/v1/domains/quotes'],
  summary: 'Get a price quote that is valid for 15 minutes',
  description:
    'Charges and reserves nothing. An order with the `quote_id` fails with 409 `domain/quote` if the price has risen. Fails with 409 `domain/taken` for a taken name. A renewal requires a domain of the account.',
  example: { domain: 'example.com', years: 1, type: 'registration' },
  tag: 'Domains',
  status: 201,
  refusals: domainRefusals,
  idempotent: true,
  body: z.object({
    domain: z.string().min(3, 'must have from 3 to 253 characters').max(253, 'must have from 3 to 253 characters'),
    years: Years,
    type: z.enum(['registration', 'renewal'], 'must be registration or renewal').default('registration'),
  }),
  response: DomainQuote,
})

const Bought = z.object({
  success: z.literal(true),
  domain: z.string(),
  status: z.enum(['active', 'expired', 'pending']),
  years: z.int(),
  expires_at: IsoTime,
  transaction_id: z.string().describe('Id of the transaction in GET /transactions.'),
  transactionId: z.string().describe('The same as `transaction_id`.'),
  nameservers: z.array(z.string()),
  privacy: z.boolean(),
})

const paidRefusals = [402, 403, 404, 409, 503]

export const registerDomain = defineRoute({
  operation: 'domainRegister',
  method: 'POST',
  path: '/domains/register',
  aliases: ['/v1/domains/register'],
  summary: 'Register a domain and pay with USDC',
  description: x402,
  example: { domain: 'example.com', years: 1, privacy: true },
  sold: true,
  idempotent: true,
  tag: 'Domains',
  status: 201,
  refusals: paidRefusals,
  body: z.object({
    domain: z.string().min(3, 'must have from 3 to 253 characters').max(253, 'must have from 3 to 253 characters'),
    years: Years,
    privacy: z.boolean().default(true).describe('Whether to hide your name from the public registry.'),
    nameservers: Nameservers.optional().describe(
      'Nameservers of the domain. Default: the nameservers of the registrar, which then serves the DNS records.',
    ),
    quote_id: QuoteId,
    sandbox_id: z.string().max(64).optional().describe('Id of your sandbox to which the domain points immediately.'),
    sandbox_port: z.int().min(1).max(65_535).optional().describe('Exposed port of that sandbox.'),
  }),
  response: Bought.extend({
    sandbox: z
      .object({
        sandbox_id: z.string(),
        port: z.int(),
        url: z.string().nullable(),
        verified: z.boolean(),
        error: z
          .string()
          .nullable()
          .describe('Reason why the domain does not point to the sandbox yet. The purchase itself succeeded.'),
      })
      .optional(),
  }),
})

export const renewDomain = defineRoute({
  operation: 'domainRenew',
  method: 'POST',
  path: '/domains/:domain/renew',
  aliases: ['/v1/domains/:domain/renew'],
  summary: 'Renew a domain and pay with USDC',
  description: x402,
  example: { years: 1, if_expires_at: '2027-01-31T12:00:00.000Z' },
  sold: true,
  idempotent: true,
  tag: 'Domains',
  status: 201,
  refusals: paidRefusals,
  params: domainParams,
  body: z.object({
    years: Years,
    quote_id: QuoteId,
    if_expires_at: IsoTime.optional().describe(
      'Expected expiry of the domain. The order is refused with 409 before payment if the domain expires at another time. This prevents a second renewal.',
    ),
  }),
  response: Bought,
})

/** Purchase of a domain or of a renewal. */
export const DomainTransaction = z.object({
  id: z.string(),
  domainId: z.string().describe('Name of the domain.'),
  type: z.enum(['registration', 'renewal']),
  amount: z.number().describe('US dollars.'),
  currency: Currency,
  status: z.enum(['pending', 'completed', 'failed']),
  createdAt: IsoTime,
})
export type DomainTransaction = z.infer<typeof DomainTransaction>

export const listDomainTransactions = defineRoute({
  operation: 'domainTransactions',
  method: 'GET',
  path: '/transactions',
  aliases: ['/v1/transactions'],
  summary: 'List your payments for domains, newest first',
  description:
    'Returns the newest 1,000 orders. `pending` includes orders whose outcome the registrar has not reported. The payment of a `failed` order becomes credits.',
  tag: 'Domains',
  response: z.object({ transactions: z.array(DomainTransaction) }),
})
