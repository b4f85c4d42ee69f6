import { z } from 'zod'
import { dnsLimits, dnsRecordTypes } from '../dns/dnsRecord.ts'
import { unknownIds } from '../ids.ts'
import { IsoTime } from '../time.ts'
import { x402 } from './payments.ts'
import { defineRoute, QueryFlag } from './route.ts'

export const domainLimits = {
  /** Names of one check. */
  check: 200,
  /** Names of one check by RDAP, which asks a server for each. */
  rdap: 20,
  /** Top-level domains of one search. */
  tlds: 50,
  years: { min: 1, max: 10 },
  nameservers: { min: 2, max: 13 },
} as const

export const usualTlds = ['com', 'io', 'ai', 'xyz', 'net', 'org', 'dev'] as const

/** Comma-separated, each once, in the order that they were given. */
const names = (most: number, what: string) =>
  z
    .string()
    .transform((text) => [...new Set(text.split(',').map((it) => it.trim().replace(/^\./, '').toLowerCase()))])
    .transform((all) => all.filter((it) => it !== ''))
    .refine((all) => all.length <= most, `must have at most ${most} ${what}`)

const Tlds = names(domainLimits.tlds, 'top-level domains')
const Currency = z.literal('USD')
const Usd = z.number().nonnegative().describe('US dollars.')

const Availability = {
  domain: z.string().describe('In ASCII, as DNS has it.'),
  unicode: z.string().describe('As people read it.'),
  available: z.boolean().describe('Only where the registry itself says so.'),
  status: z.enum(['available', 'taken', 'unknown']).describe('`unknown`: the registry gave no answer.'),
  premium: z.boolean().describe('Costs more than usual for its top-level domain.'),
  warning: z.string().optional().describe('Letters of several scripts make it look like another name.'),
}

export const SearchResult = z.object({
  ...Availability,
  pricing: z
    .object({ registration: Usd, renewal: Usd, currency: Currency })
    .nullable()
    .describe('For one year; null where it is not known.'),
})
export type SearchResult = z.infer<typeof SearchResult>

export const searchDomains = defineRoute({
  operation: 'domainSearch',
  method: 'GET',
  path: '/domains/search',
  aliases: ['/v1/domains/search'],
  summary: 'Search for names that can be registered',
  tag: 'Domains',
  auth: 'none',
  query: z.object({
    q: z
      .string()
      .trim()
      .min(1, 'must not be empty')
      .max(253, 'must have at most 253 characters')
      .describe('A word, or a whole name.'),
    tlds: Tlds.optional().describe(`Comma-separated. Default: ${usualTlds.join(',')}.`),
    suggestions: QueryFlag.default(false).describe('Whether to propose names like it.'),
  }),
  response: z.object({
    query: z.string(),
    results: z.array(SearchResult),
    suggestions: z.array(SearchResult),
  }),
})

export const CheckedDomain = z.object({
  ...Availability,
  price: Usd.nullable().describe('Of the first year; null where it is not known.'),
  currency: Currency,
  error: z.string().optional().describe('Why the name cannot be checked.'),
})
export type CheckedDomain = z.infer<typeof CheckedDomain>

export const checkDomains = defineRoute({
  operation: 'domainCheck',
  method: 'GET',
  path: '/domains/check',
  aliases: ['/v1/domains/check'],
  summary: 'Check whether names can be registered',
  tag: 'Domains',
  auth: 'none',
  query: z.object({
    domains: names(domainLimits.check, 'names')
      .refine((all) => all.length > 0, 'must name at least one domain')
      .describe(`Comma-separated, at most ${domainLimits.check}.`),
    source: z
      .enum(['registrar', 'rdap'], 'must be registrar or rdap')
      .default('registrar')
      .describe(
        `\`rdap\`: ask the registries of the world, without prices, for at most ${domainLimits.rdap} names. It needs no account of a registrar.`,
      ),
  }),
  response: z.object({ domains: z.array(CheckedDomain) }),
})

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
  summary: 'List prices by top-level domain, for one year',
  tag: 'Domains',
  auth: 'none',
  query: z.object({ tlds: Tlds.optional().describe('Comma-separated. Default: all.') }),
  response: z.object({
    pricing: z.array(TldPrice),
    registrar: z.string(),
    test: z.boolean().describe('Names from this registrar exist on this computer only.'),
    nameservers: z
      .array(z.string())
      .optional()
      .describe(
        'Of the registrar: they answer with the DNS records kept here. A name that begins with a dot stands for all below it. Absent where that is not known.',
      ),
    dns_server: z
      .string()
      .nullable()
      .optional()
      .describe('`HOST:PORT` where DNS is answered for names of a test registry.'),
  }),
})

const Source = z
  .enum(['live', 'cache', 'stale'])
  .describe('`live`: read from the registrar now. `cache`: read recently. `stale`: the registrar did not answer.')

/** The name of a domain that the account owns. */
export const DomainParam = z
  .string()
  .trim()
  .toLowerCase()
  .regex(/^[a-z0-9.-]{3,253}$/, 'must be a domain name in ASCII')
  .register(unknownIds, { code: 'domain/not-found', message: (id) => `You have no domain ${id}.` })

const HostName = z
  .string()
  .trim()
  .toLowerCase()
  .regex(
    /^(?=.{1,253}\.?$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.?$/,
    'must be host names, as in ns1.example.com',
  )
  .transform((name) => name.replace(/\.$/, ''))

const { min: fewest, max: most } = domainLimits.nameservers
export const Nameservers = z
  .array(HostName)
  .min(fewest, `must have from ${fewest} to ${most} host names`)
  .max(most, `must have from ${fewest} to ${most} host names`)
  .refine((all) => new Set(all).size === all.length, 'must not name a host twice')

export const Domain = z.object({
  domain: z.string(),
  name: z.string().describe('The same as `domain`.'),
  unicode: z.string().describe('As people read it.'),
  status: z.enum(['active', 'expired', 'pending']),
  registered_at: IsoTime,
  expires_at: IsoTime,
  expiresAt: IsoTime.describe('The same as `expires_at`.'),
  auto_renew: z.boolean(),
  privacy: z.boolean().describe('The registry does not publish who you are.'),
  nameservers: z.array(z.string()),
  locked: z.boolean().describe('It cannot be transferred to another registrar.'),
  registrar: z.string(),
  source: Source,
  as_of: IsoTime,
})
export type Domain = z.infer<typeof Domain>

export const listDomains = defineRoute({
  operation: 'domainList',
  method: 'GET',
  path: '/domains',
  aliases: ['/v1/domains'],
  summary: 'List your domains',
  tag: 'Domains',
  response: z.object({ domains: z.array(Domain), source: Source, as_of: IsoTime }),
})

const params = z.object({ domain: DomainParam })
const refusals = [404, 409, 503]

export const getDomain = defineRoute({
  operation: 'domainGet',
  method: 'GET',
  path: '/domains/:domain',
  aliases: ['/v1/domains/:domain'],
  summary: 'Read one of your domains',
  tag: 'Domains',
  params,
  response: Domain,
})

export const setDomainPrivacy = defineRoute({
  operation: 'domainPrivacy',
  method: 'PUT',
  path: '/domains/:domain/privacy',
  aliases: ['/v1/domains/:domain/privacy'],
  summary: 'Hide or publish the owner of a domain',
  tag: 'Domains',
  refusals,
  params,
  body: z.object({ enabled: z.boolean() }),
  response: z.object({ success: z.literal(true), domain: z.string(), privacy: z.boolean() }),
})

export const setNameservers = defineRoute({
  operation: 'domainNameservers',
  method: 'PUT',
  path: '/domains/:domain/nameservers',
  aliases: ['/v1/domains/:domain/nameservers'],
  summary: 'Set the nameservers of a domain',
  tag: 'Domains',
  refusals,
  params,
  body: z.object({ nameservers: Nameservers }),
  response: z.object({ success: z.literal(true), domain: z.string(), nameservers: z.array(z.string()) }),
})

export const setDomainLock = defineRoute({
  operation: 'domainLock',
  method: 'PUT',
  path: '/domains/:domain/lock',
  aliases: ['/v1/domains/:domain/lock'],
  summary: 'Lock a domain against transfers, or unlock it',
  tag: 'Domains',
  refusals,
  params,
  body: z.object({ enabled: z.boolean() }),
  response: z.object({ success: z.literal(true), domain: z.string(), locked: z.boolean() }),
})

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
  tag: 'Domains',
  status: 201,
  refusals,
  body: z.object({
    domain: z.string().min(3, 'must have from 3 to 253 characters').max(253, 'must have from 3 to 253 characters'),
    years: Years,
    type: z.enum(['registration', 'renewal'], 'must be registration or renewal').default('registration'),
  }),
  response: DomainQuote,
})

export const getAuthCode = defineRoute({
  operation: 'domainAuthCode',
  method: 'POST',
  path: '/domains/:domain/auth-code',
  aliases: ['/v1/domains/:domain/auth-code'],
  summary: 'Get the code that transfers a domain to another registrar',
  tag: 'Domains',
  refusals,
  params,
  response: z.object({
    success: z.literal(true),
    domain: z.string(),
    auth_code: z.string().nullable().describe('Null: the registrar sends it to the address of the owner.'),
  }),
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
  tag: 'Domains',
  status: 201,
  refusals: paidRefusals,
  params,
  body: z.object({ years: Years, quote_id: QuoteId }),
  response: Bought,
})

const { ttl, distance } = dnsLimits
const fields = {
  host: z.string().max(253, 'must have at most 253 characters').describe('`@` for the domain itself, `www`, `*`.'),
  value: z.string().max(8_192, 'must have at most 8192 characters').describe('What it says; see `type`.'),
  ttl: z.number().optional().describe(`Seconds from ${ttl.min} to ${ttl.max}. Default: ${ttl.default}.`),
  distance: z
    .number()
    .nullish()
    .describe(
      `Preference of MX and priority of SRV: ${distance.min} to ${distance.max}. Default: ${distance.default}.`,
    ),
}

export const DnsRecord = z.object({
  recordId: z.string(),
  id: z.string().describe('The same as `recordId`.'),
  record_id: z.string().describe('The same as `recordId`.'),
  type: z.enum(dnsRecordTypes),
  host: z.string(),
  value: z
    .string()
    .describe('CNAME, MX and NS: a host name. SRV: `weight port target`. CAA: `flags tag "value"`. TXT: the text.'),
  ttl: z.int(),
  distance: z.int().nullable(),
})
export type DnsRecord = z.infer<typeof DnsRecord>

export const listDnsRecords = defineRoute({
  operation: 'dnsList',
  method: 'GET',
  path: '/domains/:domain/dns',
  aliases: ['/v1/domains/:domain/dns'],
  summary: 'List the DNS records of a domain',
  tag: 'DNS',
  refusals,
  params,
  query: z.object({ fresh: QueryFlag.default(false).describe('Read them from the registrar now.') }),
  response: z.object({
    records: z.array(DnsRecord),
    source: Source,
    as_of: IsoTime,
    hash: z.string().describe('Of all records: another one means that the zone changed.'),
  }),
})

export const addDnsRecord = defineRoute({
  operation: 'dnsAdd',
  method: 'POST',
  path: '/domains/:domain/dns',
  aliases: ['/v1/domains/:domain/dns'],
  summary: 'Add a DNS record',
  tag: 'DNS',
  refusals: [...refusals, 429],
  idempotent: true,
  status: 201,
  params,
  body: z.object({
    type: z
      .string()
      .trim()
      .toUpperCase()
      .pipe(z.enum(dnsRecordTypes, `must be one of ${dnsRecordTypes.join(', ')}`)),
    ...fields,
  }),
  response: DnsRecord,
})

const recordParams = z.object({
  domain: DomainParam,
  recordId: z
    .string()
    .min(1)
    .max(128)
    .register(unknownIds, { code: 'dns/not-found', message: (id) => `There is no DNS record ${id}.` }),
})

export const changeDnsRecord = defineRoute({
  operation: 'dnsUpdate',
  method: 'PUT',
  path: '/domains/:domain/dns/:recordId',
  aliases: ['/v1/domains/:domain/dns/:recordId'],
  summary: 'Change a DNS record',
  tag: 'DNS',
  refusals,
  params: recordParams,
  body: z.object({ ...fields, host: fields.host.optional(), value: fields.value.optional() }),
  response: DnsRecord.extend({ success: z.literal(true) }),
})

export const removeDnsRecord = defineRoute({
  operation: 'dnsDelete',
  method: 'DELETE',
  path: '/domains/:domain/dns/:recordId',
  aliases: ['/v1/domains/:domain/dns/:recordId'],
  summary: 'Delete a DNS record',
  tag: 'DNS',
  refusals,
  params: recordParams,
  response: z.object({ success: z.literal(true), recordId: z.string() }),
})

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
  tag: 'Domains',
  response: z.object({ transactions: z.array(DomainTransaction) }),
})
