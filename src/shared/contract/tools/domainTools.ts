import { z } from 'zod'
import { dnsLimits, dnsRecordTypes } from '../../dns/dnsRecord.ts'
import { addDnsRecord, changeDnsRecord, listDnsRecords, removeDnsRecord } from '../dnsRecords.ts'
import { checkDomains, defaultTlds, domainLimits, listDomainPrices, searchDomains } from '../domainSearch.ts'
import { getDomain, listDomains, setDomainPrivacy, setNameservers } from '../domains.ts'
import { defineTool, type Tool, type ToolContext } from './tool.ts'

const domain = z.string()
const group = 'domains'
const { ttl } = dnsLimits
const record = {
  record_id: z.string(),
  type: z.string(),
  host: z.string(),
  value: z.string(),
  ttl: z.int(),
  distance: z.number().optional(),
}
const { min, max } = domainLimits.nameservers
const listed = z.array(z.looseObject({ domain: z.string() }))

/** Tools for domain search, domains of the account and DNS records. */
export const domainTools: readonly Tool[] = [
  defineTool({
    name: 'domain_search',
    description: 'Search for available domain names, with prices',
    group,
    effect: 'read',
    openWorld: true,
    routes: [searchDomains],
    input: { query: z.string(), tlds: z.string().default(defaultTlds.join(',')) },
    output: { query: z.string(), results: listed },
    run: async ({ query: q, tlds }, { call }) => {
      const { query, results } = await call(searchDomains, { q, tlds })
      return { query, results }
    },
  }),
  defineTool({
    name: 'domain_check',
    description: 'Check availability and price of domains (comma-separated)',
    group,
    effect: 'read',
    openWorld: true,
    routes: [checkDomains],
    input: { domains: z.string() },
    output: { domains: listed },
    run: ({ domains }, { call }) => call(checkDomains, { domains }),
  }),
  defineTool({
    name: 'domain_pricing',
    description: 'List prices per TLD (comma-separated)',
    group,
    effect: 'read',
    openWorld: true,
    routes: [listDomainPrices],
    input: { tlds: z.string().optional() },
    output: { pricing: z.array(z.looseObject({ tld: z.string() })) },
    run: ({ tlds }, { call }) => call(listDomainPrices, tlds === undefined ? {} : { tlds }),
  }),
  defineTool({
    name: 'domain_list',
    description: 'List your domains',
    group,
    effect: 'read',
    openWorld: true,
    routes: [listDomains],
    input: {},
    output: { domains: listed },
    run: (_, { call }) => call(listDomains, {}),
  }),
  defineTool({
    name: 'domain_info',
    description: 'Get one of your domains',
    group,
    effect: 'read',
    openWorld: true,
    routes: [getDomain],
    input: { domain },
    output: {
      domain: z.string(),
      status: z.string(),
      expires_at: z.string(),
      nameservers: z.array(z.string()),
      privacy: z.boolean(),
    },
    run: ({ domain }, { call }) => call(getDomain, { domain }),
  }),
  defineTool({
    name: 'domain_dns_list',
    description: 'List DNS records',
    group,
    effect: 'read',
    openWorld: true,
    routes: [listDnsRecords],
    input: { domain },
    output: { records: z.array(z.looseObject(record)) },
    run: ({ domain }, { call }) => call(listDnsRecords, { domain }),
  }),
  defineTool({
    name: 'domain_dns_add',
    description: 'Add a DNS record; use host @ for the root',
    group,
    effect: 'change',
    openWorld: true,
    routes: [addDnsRecord],
    input: {
      domain,
      type: z.enum(dnsRecordTypes),
      host: z.string(),
      value: z.string(),
      ttl: z.int().min(ttl.min).max(ttl.max).default(ttl.default),
      distance: z.int().optional().describe('Only for MX and SRV'),
    },
    output: record,
    run: (args, { call }) => call(addDnsRecord, args),
  }),
  defineTool({
    name: 'domain_dns_update',
    description: 'Change a DNS record',
    group,
    effect: 'destroy',
    idempotent: true,
    openWorld: true,
    routes: [changeDnsRecord],
    input: {
      domain,
      record_id: z.string(),
      host: z.string().optional(),
      value: z.string().optional(),
      ttl: z.int().min(ttl.min).max(ttl.max).optional(),
    },
    output: record,
    approval: ({ domain, record_id: id, host, value, ttl }) => ({
      sentence: `Change the DNS record ${id} of ${domain}${toChanges({ host, value, ttl })}.`,
      target: domain,
    }),
    describe: async ({ domain, record_id: id, host, value, ttl }, call) =>
      `Change the DNS record ${await describeRecord(call, domain, id)} of ${domain}${toChanges({ host, value, ttl })}.`,
    run: ({ domain, record_id: recordId, ...rest }, { call }) => call(changeDnsRecord, { domain, recordId, ...rest }),
  }),
  defineTool({
    name: 'domain_dns_delete',
    description: 'Delete a DNS record',
    group,
    effect: 'destroy',
    idempotent: true,
    openWorld: true,
    routes: [removeDnsRecord],
    input: { domain, record_id: z.string() },
    output: { success: z.boolean(), recordId: z.string() },
    approval: ({ domain, record_id: id }) => ({
      sentence: `Delete the DNS record ${id} of ${domain}.`,
      target: domain,
    }),
    describe: async ({ domain, record_id: id }, call) =>
      `Delete the DNS record ${await describeRecord(call, domain, id)} of ${domain}.`,
    run: ({ domain, record_id: recordId }, { call }) => call(removeDnsRecord, { domain, recordId }),
  }),
  defineTool({
    name: 'domain_privacy',
    description: 'Hide (true) or publish the owner in WHOIS',
    group,
    effect: 'destroy',
    idempotent: true,
    openWorld: true,
    routes: [setDomainPrivacy],
    input: { domain, enabled: z.boolean() },
    output: { success: z.boolean(), domain: z.string(), privacy: z.boolean() },
    approval: ({ domain, enabled }) =>
      enabled ? undefined : { sentence: `Publish the owner of ${domain} in WHOIS.`, target: domain },
    run: ({ domain, enabled }, { call }) => call(setDomainPrivacy, { domain, enabled }),
  }),
  defineTool({
    name: 'domain_nameservers',
    description: 'Set the nameservers of a domain',
    group,
    effect: 'destroy',
    idempotent: true,
    openWorld: true,
    routes: [setNameservers],
    input: { domain, nameservers: z.array(z.string()).min(min).max(max) },
    output: { success: z.boolean(), domain: z.string(), nameservers: z.array(z.string()) },
    approval: ({ domain, nameservers }) => ({
      sentence: `Set the nameservers of ${domain} to ${nameservers.join(', ')}.`,
      target: domain,
    }),
    run: ({ domain, nameservers }, { call }) => call(setNameservers, { domain, nameservers }),
  }),
]

/** Formats a record as `A www 192.0.2.1`, or as its id if it is not found. */
async function describeRecord(call: ToolContext['call'], domain: string, id: string): Promise<string> {
  const { records } = await call(listDnsRecords, { domain })
  const record = records.find((it) => it.record_id === id)
  return record ? `${record.type} ${record.host} ${record.value.slice(0, 100)}` : id
}

/** Formats the changed fields, such as ` to host www, value 192.0.2.1`. */
function toChanges(fields: Record<string, string | number | undefined>): string {
  const parts = Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [`${name} ${value}`]))
  return parts.length === 0 ? '' : ` to ${parts.join(', ')}`
}
