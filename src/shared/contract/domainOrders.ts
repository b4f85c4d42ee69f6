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
  .describe('Of POST /domains/quotes: the order is refused if it costs more by now.')

/** Price of an order, valid for 15 minutes. */
export const DomainQuote = z.object({
  quote_id: z.string(),
  domain: z.string(),
  unicode: z.string().describe('As people read it.'),
  type: z.enum(['registration', 'renewal']),
  years: z.int(),
  premium: z.boolean().describe('Costs more than usual for its top-level domain.'),
  amount: Usd.describe('US dollars for all years. The 402 of the order asks for exactly this.'),
  first_year: Usd,
  later_year: Usd,
  currency: Currency,
  registrar: z.string(),
  test: z.boolean().describe('The name exists on this computer only.'),
  expires_at: IsoTime.describe('Until then the price holds.'),
})
export type DomainQuote = z.infer<typeof DomainQuote>

export const quoteDomain = defineRoute({
  operation: 'domainQuote',
  method: 'POST',
  path: '/domains/quotes',
  aliases: ['/v1/domains/quotes'],
  summary: 'Get a price that holds for 15 minutes',
  description:
    'Charges and reserves nothing. An order with the `quote_id` fails with 409 `domain/quote` if the price rose. Fails with 409 `domain/taken` for a taken name; a renewal requires a domain of the account.',
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
  transaction_id: z.string().describe('GET /transactions lists it.'),
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
  summary: 'Register a domain, paid with USDC',
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
    privacy: z.boolean().default(true).describe('Keep your name out of the public registry.'),
    nameservers: Nameservers.optional().describe('Default: those of the registrar, which then serves the DNS records.'),
    quote_id: QuoteId,
    sandbox_id: z.string().max(64).optional().describe('A sandbox of yours that the domain is to lead to at once.'),
    sandbox_port: z.int().min(1).max(65_535).optional().describe('The exposed port of that sandbox.'),
  }),
  response: Bought.extend({
    sandbox: z
      .object({
        sandbox_id: z.string(),
        port: z.int(),
        url: z.string().nullable(),
        verified: z.boolean(),
        error: z.string().nullable().describe('Why the domain does not lead there yet. It was bought all the same.'),
      })
      .optional(),
  }),
})

export const renewDomain = defineRoute({
  operation: 'domainRenew',
  method: 'POST',
  path: '/domains/:domain/renew',
  aliases: ['/v1/domains/:domain/renew'],
  summary: 'Renew a domain, paid with USDC',
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
      'The order is refused with 409, before it is paid, if the domain expires at another time by now: nothing is renewed twice.',
    ),
  }),
  response: Bought,
})

/** Purchase of a domain or of a renewal. */
export const DomainTransaction = z.object({
  id: z.string(),
  domainId: z.string().describe('The name of the domain.'),
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
  summary: 'List what you paid for domains, newest first',
  description:
    'Returns the newest 1,000 orders. `pending` includes orders with an outcome that the registrar has not reported. The payment of a `failed` order becomes credits.',
  tag: 'Domains',
  response: z.object({ transactions: z.array(DomainTransaction) }),
})
