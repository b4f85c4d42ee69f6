import { z } from 'zod'
import { defineRoute, QueryFlag } from './route.ts'

/** Limits of domain searches, checks and orders. */
export const domainLimits = {
  /** Names per availability check. */
  check: 200,
  /** Names per check by RDAP, which needs one request per name. */
  rdap: 20,
  /** Top-level domains per search. */
  tlds: 50,
  years: { min: 1, max: 10 },
  nameservers: { min: 2, max: 13 },
} as const

/** Top-level domains of a search that names none. */
export const defaultTlds = ['com', 'io', 'ai', 'xyz', 'net', 'org', 'dev'] as const

/** Comma-separated names, deduplicated in order. */
export const createNamesSchema = (max: number, subject: string) =>
  z
    .string()
    .transform((text) => [...new Set(text.split(',').map((part) => part.trim().replace(/^\./, '').toLowerCase()))])
    .transform((all) => all.filter((it) => it !== ''))
    .refine((all) => all.length <= max, `must have at most ${max} ${subject}`)

const Tlds = createNamesSchema(domainLimits.tlds, 'top-level domains')

/** Currency of all prices. */
export const Currency = z.literal('USD')

/** Amount in US dollars. At least 0. */
export const Usd = z.number().nonnegative().describe('US dollars.')

const Availability = {
  domain: z.string().describe('Name in ASCII, as used in DNS.'),
  unicode: z.string().describe('Name in Unicode, for display.'),
  available: z.boolean().describe('Whether the registry reports that the name is available.'),
  status: z
    .enum(['available', 'taken', 'unknown'])
    .describe('Availability of the name. `unknown`: the registry did not respond.'),
  premium: z.boolean().describe('Whether the name costs more than usual for its top-level domain.'),
  warning: z
    .string()
    .optional()
    .describe('Warning that the name mixes letters of several scripts and resembles another name.'),
}

/** Absent in responses of earlier versions. */
const registrarFields = {
  registrar: z.string().optional().describe('Registrar that was queried. Absent for RDAP.'),
  test: z.boolean().optional().describe('Whether names from this registrar exist only on the computer of the service.'),
}

/** Name found by a search, with prices for one year. */
export const SearchResult = z.object({
  ...Availability,
  pricing: z
    .object({ registration: Usd, renewal: Usd, currency: Currency })
    .nullable()
    .describe('Prices for one year. Null if unknown.'),
})
export type SearchResult = z.infer<typeof SearchResult>

const SearchTerm = z.string().trim().min(1, 'must not be empty').max(253, 'must have at most 253 characters')

export const searchDomains = defineRoute({
  operation: 'domainSearch',
  method: 'GET',
  path: '/domains/search',
  aliases: ['/v1/domains/search'],
  summary: 'Search for available domain names',
  description:
    'Results include taken names. An exact name such as `example.com` comes first. Returns at most 8 suggestions, all available .com names. One network can search 20,000 names in 24 hours. Fails with 429 `request/rate` above that limit.',
  tag: 'Domains',
  auth: 'none',
  query: z
    .object({
      q: SearchTerm.optional().describe('Word or full domain name. Required unless `query` is set.'),
      query: SearchTerm.optional().describe('The same as `q`.'),
      tlds: Tlds.optional().describe(`Comma-separated top-level domains. Default: ${defaultTlds.join(',')}.`),
      suggestions: QueryFlag.default(false).describe('Whether to suggest similar names.'),
    })
    .refine(({ q, query }) => q !== undefined || query !== undefined, { path: ['q'], message: 'is required' }),
  response: z.object({
    query: z.string(),
    results: z.array(SearchResult),
    suggestions: z.array(SearchResult),
    ...registrarFields,
  }),
})

/** Availability and first-year price of a name. `error` replaces the result if the check failed. */
export const CheckedDomain = z.object({
  ...Availability,
  price: Usd.nullable().describe('Price of the first year. Null if unknown.'),
  currency: Currency,
  error: z.string().optional().describe('Reason why the name cannot be checked.'),
})
export type CheckedDomain = z.infer<typeof CheckedDomain>

export const checkDomains = defineRoute({
  operation: 'domainCheck',
  method: 'GET',
  path: '/domains/check',
  aliases: ['/v1/domains/check'],
  summary: 'Check the availability of domain names',
  description:
    'Reports an invalid name in the `error` field of its entry and does not fail the request. Every name counts toward the daily limit of 20,000 names for a network. Fails with 429 `request/rate` above the limit.',
  tag: 'Domains',
  auth: 'none',
  query: z.object({
    domains: createNamesSchema(domainLimits.check, 'names')
      .refine((all) => all.length > 0, 'must name at least one domain')
      .describe(`Comma-separated names, at most ${domainLimits.check}.`),
    source: z
      .enum(['registrar', 'rdap'], 'must be registrar or rdap')
      .default('registrar')
      .describe(
        `\`rdap\` queries the registries directly, for at most ${domainLimits.rdap} names and without prices. It requires no registrar account.`,
      ),
  }),
  response: z.object({ domains: z.array(CheckedDomain), ...registrarFields }),
})

/** Prices of a top-level domain for one year, in US dollars. */
export const TldPrice = z.object({
  tld: z.string(),
  registration: Usd,
  renewal: Usd,
  transfer: Usd,
  currency: Currency,
})
export type TldPrice = z.infer<typeof TldPrice>

export const listDomainPrices = defineRoute({
  operation: 'domainPricing',
  method: 'GET',
  path: '/domains/pricing',
  aliases: ['/v1/domains/pricing'],
  summary: 'List one-year prices by top-level domain',
  description:
    'Omits unknown top-level domains. Premium names cost more; `POST /domains/quotes` returns the price of one name. Fails with 503 `domain/registrar` if the registrar does not respond.',
  tag: 'Domains',
  auth: 'none',
  query: z.object({ tlds: Tlds.optional().describe('Comma-separated top-level domains. Default: all.') }),
  response: z.object({
    pricing: z.array(TldPrice),
    registrar: z.string(),
    test: z.boolean().describe('Whether names from this registrar exist only at this service.'),
    nameservers: z
      .array(z.string())
      .optional()
      .describe(
        'Nameservers of the registrar, which serve the DNS records of this service. A name that begins with a dot matches all names below it. Absent if unknown.',
      ),
    dns_server: z
      .string()
      .nullable()
      .optional()
      .describe('`HOST:PORT` of the DNS server for names of a test registry.'),
  }),
})
