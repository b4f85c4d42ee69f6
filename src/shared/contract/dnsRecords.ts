import { z } from 'zod'
import { dnsLimits, dnsRecordTypes } from '../dns/dnsRecord.ts'
import { unknownIds } from '../ids.ts'
import { IsoTime } from '../time.ts'
import { DomainParam, DomainSource, domainParams, domainRefusals, OrphanedName } from './domains.ts'
import { defineRoute, QueryFlag } from './route.ts'

const { ttl, distance } = dnsLimits
const ttlRule = `must be a whole number of seconds from ${ttl.min} to ${ttl.max}`
const distanceRule = `must be a whole number from ${distance.min} to ${distance.max}`

const fields = {
  host: z
    .string()
    .max(253, 'must have at most 253 characters')
    .describe('Host name relative to the domain: `@` for the domain itself, `www`, `*`.'),
  value: z
    .string()
    .max(8_192, 'must have at most 8192 characters')
    .describe('Value of the record. The format depends on `type`.'),
  ttl: z
    .int(ttlRule)
    .min(ttl.min, ttlRule)
    .max(ttl.max, ttlRule)
    .optional()
    .describe(`Time to live, in whole seconds, from ${ttl.min} to ${ttl.max}. Default: ${ttl.default}.`),
  distance: z
    .int(distanceRule)
    .min(distance.min, distanceRule)
    .max(distance.max, distanceRule)
    .nullish()
    .describe(
      `Preference of an MX record or priority of an SRV record, from ${distance.min} to ${distance.max}. Default: ${distance.default}. Refused for other types.`,
    ),
}

/** DNS record. The id is stable until the record changes; some registrars then assign a new one. */
export const DnsRecord = z.object({
  recordId: z.string(),
  id: z.string().describe('The same as `recordId`.'),
  record_id: z.string().describe('The same as `recordId`.'),
  type: z.enum(dnsRecordTypes),
  host: z.string(),
  value: z
    .string()
    .describe(
      'Value of the record. CNAME, MX and NS: a host name. SRV: `weight port target`. CAA: `flags tag "value"`. TXT: the text.',
    ),
  ttl: z.int(),
  distance: z
    .int()
    .min(distance.min)
    .max(distance.max)
    .optional()
    .describe('Preference of an MX record or priority of an SRV record. Absent for other types.'),
})
export type DnsRecord = z.infer<typeof DnsRecord>

export const listDnsRecords = defineRoute({
  operation: 'dnsList',
  method: 'GET',
  path: '/domains/:domain/dns',
  aliases: ['/v1/domains/:domain/dns'],
  summary: 'List the DNS records of a domain',
  description:
    'Returns the entire zone, from a copy at most 2 minutes old unless `fresh` is true. If the registrar does not respond, returns the last known records as `stale`; with `fresh`, fails with 503 `domain/registrar`.',
  tag: 'DNS',
  refusals: domainRefusals,
  params: domainParams,
  query: z.object({
    fresh: QueryFlag.default(false).describe('Whether to read the records from the registrar instead of a copy.'),
  }),
  response: z.object({
    records: z.array(DnsRecord),
    source: DomainSource,
    as_of: IsoTime,
    hash: z.string().describe('Hash of all records. It changes if the zone changes.'),
  }),
})

export const addDnsRecord = defineRoute({
  operation: 'dnsAdd',
  method: 'POST',
  path: '/domains/:domain/dns',
  aliases: ['/v1/domains/:domain/dns'],
  summary: 'Add a DNS record',
  description: `Fails with 409 \`dns/conflict\` for a duplicate or for a second record with the same name as a CNAME. Fails with 429 \`dns/too-many\` above ${dnsLimits.records} records. After 503 \`dns/unknown-outcome\`, list the records before you retry.`,
  example: { type: 'A', host: 'www', value: '192.0.2.1', ttl: 3600 },
  tag: 'DNS',
  refusals: [...domainRefusals, 429],
  idempotent: true,
  status: 201,
  params: domainParams,
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
  description:
    'Leaves absent fields and the type unchanged. The `recordId` in the response can differ from the path, because some registrars replace the record. Fails with 409 `dns/conflict` under the same rules as adding a record.',
  example: { value: '192.0.2.2', ttl: 600 },
  tag: 'DNS',
  refusals: domainRefusals,
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
  description:
    'A second call fails with 404 `dns/not-found`. After 503 `dns/unknown-outcome`, list the records before you retry.',
  tag: 'DNS',
  refusals: domainRefusals,
  params: recordParams,
  response: z.object({ success: z.literal(true), recordId: z.string() }),
})

export const listOrphanedRecords = defineRoute({
  operation: 'dnsOrphanedList',
  method: 'GET',
  path: '/domains/:domain/orphaned-records',
  aliases: ['/v1/domains/:domain/orphaned-records'],
  summary: 'List DNS records that still point to this service for a deleted sandbox',
  description:
    'Changes no DNS records. Permanently removes names without such a record from `names`. The zone can come from a copy at most 2 minutes old.',
  tag: 'DNS',
  refusals: domainRefusals,
  params: domainParams,
  response: z.object({ names: z.array(OrphanedName), records: z.array(DnsRecord) }),
})

export const removeOrphanedRecords = defineRoute({
  operation: 'dnsOrphanedRemove',
  method: 'DELETE',
  path: '/domains/:domain/orphaned-records',
  aliases: ['/v1/domains/:domain/orphaned-records'],
  summary: 'Delete DNS records that still point to this service for a deleted sandbox',
  description:
    'Reads the zone from the registrar first. Skips names that were added to another sandbox. Returns the deleted records; a second call returns an empty list.',
  tag: 'DNS',
  refusals: domainRefusals,
  params: domainParams,
  response: z.object({ success: z.literal(true), removed: z.array(DnsRecord) }),
})
