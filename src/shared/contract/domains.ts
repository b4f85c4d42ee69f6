import { z } from 'zod'
import { unknownIds } from '../ids.ts'
import { IsoTime } from '../time.ts'
import { domainLimits } from './domainSearch.ts'
import { defineRoute } from './route.ts'

/** Freshness of domain data. */
export const DomainSource = z
  .enum(['live', 'cache', 'stale'])
  .describe('`live`: read from the registrar now. `cache`: read recently. `stale`: the registrar did not answer.')

/** The name of a domain that the account owns. */
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

/** Host names of a domain's name servers. */
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
  tag: 'Domains',
  response: z.object({ domains: z.array(Domain), source: DomainSource, as_of: IsoTime }),
})

/** Path parameters of domain routes. */
export const domainParams = z.object({ domain: DomainParam })

/** HTTP statuses that domain routes return in addition to the common ones. */
export const domainRefusals = [404, 409, 503]

export const getDomain = defineRoute({
  operation: 'domainGet',
  method: 'GET',
  path: '/domains/:domain',
  aliases: ['/v1/domains/:domain'],
  summary: 'Read one of your domains',
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
  tag: 'Domains',
  refusals: domainRefusals,
  params: domainParams,
  response: z.object({
    success: z.literal(true),
    domain: z.string(),
    auth_code: z.string().nullable().describe('Null: the registrar sends it to the address of the owner.'),
  }),
})
