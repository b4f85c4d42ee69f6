import { z } from 'zod'
import { unknownIds } from '../ids.ts'
import { IsoTime } from '../time.ts'
import { domainLimits } from './domainSearch.ts'
import { defineRoute } from './route.ts'

/** Freshness of domain data. */
export const DomainSource = z
  .enum(['live', 'cache', 'stale'])
  .describe('`live`: read from the registrar now. `cache`: read recently. `stale`: the registrar did not respond.')

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

/** Nameservers of a domain: 2 to 13 different host names. */
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

/** Domain of the account. */
export const Domain = z.object({
  domain: z.string(),
  name: z.string().describe('Same value as `domain`.'),
  unicode: z.string().describe('Name in Unicode, for display.'),
  status: z.enum(['active', 'expired', 'pending']),
  registered_at: IsoTime,
  expires_at: IsoTime,
  expiresAt: IsoTime.describe('Same value as `expires_at`.'),
  auto_renew: z
    .boolean()
    .describe('Whether the registrar renews the domain automatically, without a payment from you.'),
  privacy: z.boolean().describe('Whether the registry hides the identity of the domain owner.'),
  nameservers: z.array(z.string()),
  locked: z.boolean().describe('It cannot be transferred to another registrar.'),
  registrar: z.string(),
  orphaned_names: z
    .array(OrphanedName)
    .default([])
    .describe('Names whose DNS records may still point to this service for a deleted sandbox.'),
  left_at: IsoTime.nullable()
    .default(null)
    .describe(
      'Time at which the registrar first reported that the domain is not in its account. Null if the domain is in the account.',
    ),
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
    'Returns all domains from a cache, sorted by name and without pagination. Refreshes details older than 5 minutes in the background. `as_of` is the time of the oldest detail.',
  tag: 'Domains',
  response: z.object({ domains: z.array(Domain), source: DomainSource, as_of: IsoTime }),
})

/** Path parameters of routes of one domain. */
export const domainParams = z.object({ domain: DomainParam })

/** HTTP statuses of domain routes in addition to the common ones. */
export const domainRefusals = [404, 409, 503]

export const getDomain = defineRoute({
  operation: 'domainGet',
  method: 'GET',
  path: '/domains/:domain',
  aliases: ['/v1/domains/:domain'],
  summary: 'Get one of your domains',
  description:
    'Returns the domain from a cache and refreshes details older than 5 minutes in the background. Fails with 404 `domain/not-found` for a domain of another account.',
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
    'Returns the value that the registrar reports after the change. Safe to repeat. Fails with 409 `domain/state` if the registrar refuses, or 503 `domain/unknown-outcome` if the outcome is unknown.',
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
    'Replaces the whole list. DNS records at this service have no effect while the domain uses the nameservers of another provider. Fails with 409 `domain/state` if the registrar refuses, or 503 `domain/unknown-outcome` if the outcome is unknown.',
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
  summary: 'Lock or unlock a domain for transfers',
  description:
    'Unlock the domain before you get its transfer code. Safe to repeat. Fails with 409 `domain/state` if the registrar refuses, or 503 `domain/unknown-outcome` if the outcome is unknown.',
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
  summary: 'Get the transfer code of a domain',
  description:
    'Requires an unlocked domain. The activity log of the account records the request without the code. Fails with 409 `domain/state` if the registrar refuses.',
  tag: 'Domains',
  refusals: domainRefusals,
  params: domainParams,
  response: z.object({
    success: z.literal(true),
    domain: z.string(),
    auth_code: z
      .string()
      .nullable()
      .describe('Transfer code. Null if the registrar sends the code to the address of the owner.'),
  }),
})
