import { z } from 'zod'
import { unknownIds } from '../ids.ts'
import { IsoTime } from '../time.ts'
import { domainLimits } from './domainSearch.ts'
import { defineRoute } from './route.ts'

/** Freshness of domain data. */
export const DomainSource = z
  .enum(['live', 'cache', 'stale'])
  .describe('`live`: read from the registrar now. `cache`: read recently. `stale`: the registrar did not answer.')

/** Name of a domain that the account owns. */
export const DomainParam = z
  .string()
  .trim()
  .toLowerCase()
  .regex(/^[a-z0-9.-]{3,253}$/, 'must be a domain name in ASCII')
  .register(unknownIds, { code: 'domain/not-found', message: (id) => `You have no domain ${id}.` })

/** Rejects an all-digit last label, so that IPv4 addresses are not host names. */
const HostName = z
  .string()
  .trim()
  .toLowerCase()
  .regex(
    /^(?=.{1,253}\.?$)([a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?\.)+(?![0-9]+\.?$)[a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?\.?$/,
    'must be host names, as in ns1.example.com',
  )
  .transform((name) => name.replace(/\.$/, ''))

const { min, max } = domainLimits.nameservers

export const Nameservers = z
  .array(HostName)
  .min(min, `must have from ${min} to ${max} host names`)
  .max(max, `must have from ${min} to ${max} host names`)
  .refine((all) => new Set(all).size === all.length, 'must not name a host twice')

/** DNS name that points to a deleted sandbox. */
export const OrphanedName = z.object({
  name: z.string(),
  sandbox_id: z.string(),
  sandbox_name: z.string(),
})
export type OrphanedName = z.infer<typeof OrphanedName>

export const Domain = z.object({
  domain: z.string(),
  name: z.string().describe('The same as `domain`.'),
  unicode: z.string().describe('As people read it.'),
  status: z.enum(['active', 'expired', 'pending']),
  registered_at: IsoTime,
  expires_at: IsoTime,
  expiresAt: IsoTime.describe('The same as `expires_at`.'),
  auto_renew: z.boolean().describe('The registrar renews it by itself, without a payment of yours.'),
  privacy: z.boolean().describe('The registry does not publish who you are.'),
  nameservers: z.array(z.string()),
  locked: z.boolean().describe('It cannot be transferred to another registrar.'),
  registrar: z.string(),
  orphaned_names: z
    .array(OrphanedName)
    .default([])
    .describe('Names whose DNS records may still point to this service for a deleted sandbox.'),
  left_at: IsoTime.nullable()
    .default(null)
    .describe('When the registrar first said that its account does not have it; null: it has.'),
  source: DomainSource,
  as_of: IsoTime,
})
export type Domain = z.infer<typeof Domain>

export const listDomains = defineRoute({
  operation: 'domainList',
  method: 'GET',
  path: '/domains',
  aliases: ['/v1/domains'],
  summary: 'List your domains',
  description:
    'Sorted by name, without pagination. Answers from a copy and refreshes details older than 5 minutes in the background. `as_of` is the time of the oldest detail.',
  tag: 'Domains',
  response: z.object({ domains: z.array(Domain), source: DomainSource, as_of: IsoTime }),
})

export const domainParams = z.object({ domain: DomainParam })

/** HTTP statuses of domain routes in addition to the common ones. */
export const domainRefusals = [404, 409, 503]

export const getDomain = defineRoute({
  operation: 'domainGet',
  method: 'GET',
  path: '/domains/:domain',
  aliases: ['/v1/domains/:domain'],
  summary: 'Read one of your domains',
  description:
    'Answers from a copy; details older than 5 minutes are refreshed in the background. A domain of another account fails with 404 `domain/not-found`.',
  tag: 'Domains',
  params: domainParams,
  response: Domain,
})

export const setDomainPrivacy = defineRoute({
  operation: 'domainPrivacy',
  method: 'PUT',
  path: '/domains/:domain/privacy',
  aliases: ['/v1/domains/:domain/privacy'],
  summary: 'Hide or publish the owner of a domain',
  description:
    'Returns the value that the registrar then reports. Fails with 409 `domain/state` if the registrar refuses, 503 `domain/unknown-outcome` if the outcome is unknown. A repetition is safe.',
  example: { enabled: true },
  tag: 'Domains',
  refusals: domainRefusals,
  params: domainParams,
  body: z.object({ enabled: z.boolean() }),
  response: z.object({ success: z.literal(true), domain: z.string(), privacy: z.boolean() }),
})

export const setNameservers = defineRoute({
  operation: 'domainNameservers',
  method: 'PUT',
  path: '/domains/:domain/nameservers',
  aliases: ['/v1/domains/:domain/nameservers'],
  summary: 'Set the nameservers of a domain',
  description:
    'Replaces the whole list. With nameservers of another provider, the DNS records here have no effect. Fails with 409 `domain/state` if the registrar refuses, 503 `domain/unknown-outcome` if the outcome is unknown.',
  example: { nameservers: ['ns1.example.net', 'ns2.example.net'] },
  tag: 'Domains',
  refusals: domainRefusals,
  params: domainParams,
  body: z.object({ nameservers: Nameservers }),
  response: z.object({ success: z.literal(true), domain: z.string(), nameservers: z.array(z.string()) }),
})

export const setDomainLock = defineRoute({
  operation: 'domainLock',
  method: 'PUT',
  path: '/domains/:domain/lock',
  aliases: ['/v1/domains/:domain/lock'],
  summary: 'Lock a domain against transfers, or unlock it',
  description:
    'Unlock the domain before you get its transfer code. Fails with 409 `domain/state` if the registrar refuses, 503 `domain/unknown-outcome` if the outcome is unknown. A repetition is safe.',
  example: { enabled: true },
  tag: 'Domains',
  refusals: domainRefusals,
  params: domainParams,
  body: z.object({ enabled: z.boolean() }),
  response: z.object({ success: z.literal(true), domain: z.string(), locked: z.boolean() }),
})

export const getAuthCode = defineRoute({
  operation: 'domainAuthCode',
  method: 'POST',
  path: '/domains/:domain/auth-code',
  aliases: ['/v1/domains/:domain/auth-code'],
  summary: 'Get the code that transfers a domain to another registrar',
  description:
    'Requires an unlocked domain; fails with 409 `domain/state` if the registrar refuses. The activity of the account records the request, without the code.',
  tag: 'Domains',
  refusals: domainRefusals,
  params: domainParams,
  response: z.object({
    success: z.literal(true),
    domain: z.string(),
    auth_code: z.string().nullable().describe('Null: the registrar sends it to the address of the owner.'),
  }),
})
