import { z } from 'zod'
import { dnsRecordTypes } from '../dns/dnsRecord.ts'
import { unknownIds } from '../ids.ts'
import { IsoTime } from '../time.ts'
import { DnsRecord, listDnsRecords } from './dnsRecords.ts'
import { listDomainPrices, searchDomains } from './domainSearch.ts'
import { Domain, DomainParam, getDomain, listDomains } from './domains.ts'
import { defineRoute } from './route.ts'

/** Domains with a local cache, which is used if the service or the registrar is unavailable. */
export const CachedSource = z
  .enum(['live', 'cache', 'stale', 'offline'])
  .describe(
    '`live`: read now. `cache`: read recently. `stale`: the registrar did not respond. `offline`: the service did not respond.',
  )
export type CachedSource = z.infer<typeof CachedSource>

const cacheFields = { source: CachedSource, as_of: IsoTime }
const params = z.object({ domain: DomainParam })

/** Domain with the freshness of the local cache. */
export const LocalDomain = Domain.extend(cacheFields)
export type LocalDomain = z.infer<typeof LocalDomain>

export const listLocalDomains = defineRoute({
  operation: 'localDomainList',
  method: 'GET',
  path: '/local/domains',
  summary: 'List your domains from the local cache',
  description:
    'Refreshes data older than a minute in the background. `source` and `as_of` show its age. Fails with the error of the service, such as 503 `service/unavailable`, only if the cache is empty.',
  tag: 'Domains',
  auth: 'person',
  refusals: [503],
  response: listDomains.response.extend({ ...cacheFields, domains: z.array(Domain) }),
})

export const getLocalDomain = defineRoute({
  operation: 'localDomainGet',
  method: 'GET',
  path: '/local/domains/:domain',
  summary: 'Get one of your domains from the local cache',
  description:
    'Refreshes data older than a minute in the background. Fails with 404 `domain/not-found` if the domain is not in your account.',
  tag: 'Domains',
  auth: 'person',
  refusals: [503],
  params,
  response: getDomain.response.extend(cacheFields),
})

export const listLocalRecords = defineRoute({
  operation: 'localDnsList',
  method: 'GET',
  path: '/local/domains/:domain/dns',
  summary: 'List the DNS records of a domain from the local cache',
  description:
    'Refreshes data older than a minute in the background. With `fresh`, reads from the registrar first and uses the cache only if the read fails with a 5xx error.',
  tag: 'DNS',
  auth: 'person',
  refusals: [503],
  params,
  query: listDnsRecords.query,
  response: listDnsRecords.response.extend(cacheFields),
})

export const searchLocalDomains = defineRoute({
  operation: 'localDomainSearch',
  method: 'GET',
  path: '/local/domains/search',
  summary: 'Search for domain names and cache the results',
  description:
    'Sends each search to the service. While the service is unavailable, returns the last results of the same search with `source` `offline`. Fails with 503 if no such results exist.',
  tag: 'Domains',
  auth: 'person',
  refusals: [503],
  query: searchDomains.query,
  response: searchDomains.response.extend(cacheFields),
})

export const listLocalPrices = defineRoute({
  operation: 'localDomainPricing',
  method: 'GET',
  path: '/local/domains/pricing',
  summary: 'List prices by top-level domain from the local cache',
  description:
    'Returns prices in US dollars for one year. Refreshes data older than a minute in the background. `source` and `as_of` show its age.',
  tag: 'Domains',
  auth: 'person',
  refusals: [503],
  response: z.object({
    pricing: z.array(
      z.object({ tld: z.string(), registration: z.number(), renewal: z.number(), transfer: z.number() }),
    ),
    registrar: z.string(),
    test: z.boolean().describe('Whether names from this registrar exist only at this service.'),
    nameservers: listDomainPrices.response.shape.nameservers,
    dns_server: listDomainPrices.response.shape.dns_server,
    ...cacheFields,
  }),
})

/** DNS server at which propagation is checked. */
export const PropagationServer = z.object({
  id: z.string().max(300),
  name: z.string().describe('Display name: a host name or an address.'),
  kind: z
    .enum(['authoritative', 'resolver'])
    .describe('`authoritative`: the server hosts the zone. `resolver`: the server caches records of the zone.'),
})
export type PropagationServer = z.infer<typeof PropagationServer>

export const listPropagationServers = defineRoute({
  operation: 'localDnsServers',
  method: 'GET',
  path: '/local/domains/:domain/propagation',
  summary: 'List the DNS servers that can be checked for a domain',
  description:
    'Returns up to four nameservers of the domain, then the resolvers of `domains.propagation_resolvers`. Sends no DNS query. Fails with 404 `domain/not-found`.',
  tag: 'DNS',
  auth: 'person',
  refusals: [503],
  params,
  response: z.object({ servers: z.array(PropagationServer) }),
})

const propagated = z
  .enum(['same', 'other', 'missing', 'failed'])
  .describe(
    '`other`: the server has other values. `missing`: the server has no values. `failed`: the server did not respond; `detail` contains the reason.',
  )
/** Records of one name and type at a server, with the expected ones. */
export const PropagatedRecords = z.object({
  type: z.enum(dnsRecordTypes),
  host: z.string(),
  state: propagated,
  wanted: z.array(z.string()).describe('Expected values from the zone. MX and SRV values begin with their priority.'),
  found: z
    .array(z.string())
    .describe('Values from the response of the server. They are untrusted: display them as text.'),
  ttl: z.int().nullable().describe('Seconds until a resolver queries the record again.'),
  detail: z.string().nullable(),
})
export type PropagatedRecords = z.infer<typeof PropagatedRecords>

/** Maximum names and types per propagation check, to limit the load on third-party servers. */
export const maxPropagated = 40

export const checkPropagation = defineRoute({
  operation: 'localDnsPropagation',
  method: 'POST',
  path: '/local/domains/:domain/propagation',
  summary: 'Compare the records of a domain with the response of one DNS server',
  description: `Queries at most ${maxPropagated} names and types; \`left_out\` counts the others. Send a separate request for each server, so that a slow server does not delay the others.`,
  example: { server: 'ns1.example.net' },
  tag: 'DNS',
  auth: 'person',
  refusals: [404, 503],
  params,
  body: z.object({ server: z.string().max(300) }),
  response: z.object({ server: PropagationServer, records: z.array(PropagatedRecords), left_out: z.int() }),
})

const DesiredRecord = z.object({
  type: z.enum(dnsRecordTypes, `must be one of ${dnsRecordTypes.join(', ')}`),
  host: z
    .string()
    .max(253, 'must have at most 253 characters')
    .describe('Name of the record: `@` for the domain itself, `www`, or `*`.'),
  value: z
    .string()
    .max(8_192, 'must have at most 8192 characters')
    .describe('Value of the record, in DNS format. For TXT, the text.'),
  ttl: z.number().optional().describe('Seconds.'),
  distance: z.number().nullish().describe('Preference of an MX record or priority of an SRV record.'),
})
/** Record of a zone to be applied. */
export type DesiredRecord = z.infer<typeof DesiredRecord>

const CachedRecord = DnsRecord.pick({ type: true, host: true, value: true, ttl: true }).extend({
  distance: z.int().nullable(),
})
const PresentRecord = CachedRecord.extend({ id: z.string() })

const stepState = z.enum(['waiting', 'done', 'failed'])
/** Step of a plan and its state. */
export const DnsPlanStep = z.discriminatedUnion('action', [
  z.object({ action: z.literal('add'), after: CachedRecord, state: stepState }),
  z.object({ action: z.literal('change'), before: PresentRecord, after: CachedRecord, state: stepState }),
  z.object({ action: z.literal('remove'), before: PresentRecord, state: stepState }),
])
export type DnsPlanStep = z.infer<typeof DnsPlanStep>

/** Plan that changes a zone to the desired records. */
export const DnsPlan = z.object({
  id: z.string(),
  domain: z.string(),
  state: z
    .enum(['ready', 'applying', 'applied', 'failed', 'moved'])
    .describe(
      '`failed`: a step failed, and the steps before it are applied. `moved`: the zone changed after the plan was created.',
    ),
  hash: z.string().describe('Hash of the records that the plan is based on.'),
  steps: z.array(DnsPlanStep),
  /** Records that the plan was computed from. */
  before: z.array(PresentRecord),
  error: z.string().nullable(),
  /** Plan that this plan reverts. */
  undo_of: z.string().nullable(),
  created_at: IsoTime,
})
export type DnsPlan = z.infer<typeof DnsPlan>

const planParams = z.object({
  planId: z
    .string()
    .min(1)
    .max(64)
    .register(unknownIds, { code: 'dns/plan-not-found', message: (id) => `There is no plan ${id}.` }),
})

export const planRecords = defineRoute({
  operation: 'localDnsPlan',
  method: 'POST',
  path: '/local/domains/:domain/plan',
  summary: 'Create a plan that changes the DNS records of a zone',
  description:
    'Compares `records` with the current zone and changes nothing. `records` is the complete list of the zone; the plan removes all records that are not in it.',
  example: {
    records: [
      { type: 'A', host: '@', value: '203.0.113.7', ttl: 3_600 },
      { type: 'MX', host: '@', value: 'mail.example.com', distance: 10 },
    ],
  },
  tag: 'DNS',
  auth: 'person',
  refusals: [404, 503],
  maxBodyBytes: 4 * 1024 * 1024,
  params,
  body: z.object({ records: z.array(DesiredRecord) }),
  response: DnsPlan,
})

export const listPlans = defineRoute({
  operation: 'localDnsPlans',
  method: 'GET',
  path: '/local/domains/:domain/plans',
  summary: 'List the latest plans of a domain, newest first',
  description:
    'Returns up to 20 plans, including undo plans; older ones are deleted. Works while the service is unavailable.',
  tag: 'DNS',
  auth: 'person',
  params,
  response: z.object({ plans: z.array(DnsPlan) }),
})

export const applyPlan = defineRoute({
  operation: 'localDnsApply',
  method: 'POST',
  path: '/local/domains/plans/:planId/apply',
  summary: 'Apply a plan step by step, unless the zone has changed',
  description:
    'Stops at the first step that fails. The plan becomes `failed`, and earlier steps stay applied. Fails with 409 `dns/moved` if the zone changed, or 409 `dns/plan-state` if the plan is not `ready`.',
  tag: 'DNS',
  auth: 'person',
  refusals: [404, 409, 503],
  params: planParams,
  response: DnsPlan,
})

export const undoPlan = defineRoute({
  operation: 'localDnsUndo',
  method: 'POST',
  path: '/local/domains/plans/:planId/undo',
  summary: 'Create a plan that reverts another plan',
  description:
    'Returns a new plan and changes nothing until you apply that plan. The new plan preserves later changes by others.',
  tag: 'DNS',
  auth: 'person',
  refusals: [404, 409, 503],
  params: planParams,
  response: DnsPlan,
})
