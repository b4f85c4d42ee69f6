import { z } from 'zod'
import { IsoTime } from '../time.ts'
import { Port } from './ports.ts'
import { defineRoute } from './route.ts'
import { SandboxParams } from './sandboxes.ts'

/** Maximum number of domains per sandbox. */
export const maxSandboxDomains = 32

/** Host name of at least two labels in ASCII form (https://www.rfc-editor.org/rfc/rfc1123#section-2). */
export const DomainName = z
  .string()
  .trim()
  .toLowerCase()
  .transform((name) => name.replace(/\.$/, ''))
  .pipe(
    z
      .string()
      .max(253, 'must have at most 253 characters')
      .regex(
        /^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])?$/,
        'must be a host name such as app.example.com, in its ASCII form',
      ),
  )

/** Domain that points to a sandbox. */
export const SandboxDomain = z.object({
  domain: z.string(),
  port: z
    .int()
    .nullable()
    .describe('Exposed port that currently receives the requests of the domain. Null if no port is exposed.'),
  url: z.string(),
  /** Required target of a CNAME or ALIAS record. Null if the service has no public address. */
  dns_target: z.string().nullable(),
  verified: z.boolean().describe('Whether requests reach the sandbox: the domain is verified and its port is exposed.'),
  verification: z
    .object({ type: z.literal('TXT'), name: z.string(), value: z.string() })
    .nullable()
    .describe('DNS record that verifies your ownership of the domain. Create the record, then add the domain again.'),
  created_at: IsoTime,
})
export type SandboxDomain = z.infer<typeof SandboxDomain>

export const addSandboxDomain = defineRoute({
  operation: 'sandboxDomainAdd',
  method: 'POST',
  path: '/v1/sandboxes/:id/domains',
  summary: 'Point a domain to an exposed port',
  description: `A domain that you registered here works immediately. For any other domain, create the TXT record in \`verification\`, then repeat the request. Fails with 409 \`sandbox-domain/taken\`, 404 \`port/not-found\`, or 429 \`sandbox-domain/too-many\` above ${maxSandboxDomains} domains.`,
  example: { domain: 'app.example.com', port: 3000 },
  tag: 'Ports',
  params: SandboxParams,
  body: z.object({
    domain: DomainName,
    port: Port.optional().describe(
      'Exposed port. If omitted, the domain always points to the port that was exposed first.',
    ),
  }),
  response: SandboxDomain.extend({ success: z.literal(true) }),
  status: 201,
  idempotent: true,
})

export const listSandboxDomains = defineRoute({
  operation: 'sandboxDomainList',
  method: 'GET',
  path: '/v1/sandboxes/:id/domains',
  summary: 'List the domains of a sandbox',
  description:
    'Returns the domains sorted by name. Unverified domains are included, with the DNS record that verifies them.',
  tag: 'Ports',
  params: SandboxParams,
  response: z.object({ domains: z.array(SandboxDomain) }),
})

export const removeSandboxDomain = defineRoute({
  operation: 'sandboxDomainRemove',
  method: 'DELETE',
  path: '/v1/sandboxes/:id/domains/:domain',
  summary: 'Remove a domain from a sandbox',
  description:
    'Verified and unverified domains can be removed. The registration and the DNS records of the domain remain unchanged. Fails with 404 `sandbox-domain/not-found` if the domain does not point to this sandbox.',
  tag: 'Ports',
  params: SandboxParams.extend({ domain: DomainName }),
  response: z.object({ success: z.literal(true), domain: z.string(), message: z.string() }),
})
