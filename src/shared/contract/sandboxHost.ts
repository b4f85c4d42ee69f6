import { z } from 'zod'
import { defineRoute } from './route.ts'

/** Process that runs the sandboxes. It outlives the service, so after an update it may be of an earlier version. */
export const SandboxHost = z.object({
  state: z
    .enum(['connected', 'away', 'other-version'])
    .describe('`other-version`: a host of another Steward runs sandboxes, and this service cannot use it'),
  version: z.string().nullable().describe('Version of a host of another Steward; otherwise null'),
  running_sandboxes: z.int().describe('Sandboxes that a host of another Steward runs'),
})
export type SandboxHost = z.infer<typeof SandboxHost>

export const getSandboxHost = defineRoute({
  operation: 'sandboxHostGet',
  method: 'GET',
  path: '/v1/host',
  summary: 'Get the state of the process that runs the sandboxes',
  description:
    'While the state is not `connected`, requests that need the process wait briefly, then fail with 503 `host/unavailable`. Fails with 403 `auth/forbidden` for anyone but the owner.',
  tag: 'Sandboxes',
  auth: 'owner',
  response: SandboxHost,
})

export const replaceSandboxHost = defineRoute({
  operation: 'sandboxHostReplace',
  method: 'POST',
  path: '/v1/host/replace',
  summary: 'Stop all sandboxes of a host of another version, and start one of this version',
  description:
    'Files stay; programs and terminals end. Waits up to 60 seconds for the new host, then fails with 503 `host/unavailable`. Changes nothing if the service can use the present host.',
  tag: 'Sandboxes',
  auth: 'owner',
  refusals: [503],
  response: SandboxHost,
})
