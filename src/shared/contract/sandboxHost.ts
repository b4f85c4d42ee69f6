import { z } from 'zod'
import { defineRoute } from './route.ts'

/** Process that runs the sandboxes. It outlives the service, so after an update it may be of an earlier version. */
export const SandboxHost = z.object({
  state: z
    .enum(['connected', 'away', 'other-version'])
    .describe(
      'State of the sandbox host. `other-version` if a host of another Steward version runs sandboxes and this service cannot use it',
    ),
  version: z.string().nullable().describe('Version of the host if another Steward version started it, otherwise null'),
  running_sandboxes: z.int().describe('Number of sandboxes that run on a host of another Steward version'),
})
export type SandboxHost = z.infer<typeof SandboxHost>

export const getSandboxHost = defineRoute({
  operation: 'sandboxHostGet',
  method: 'GET',
  path: '/v1/host',
  summary: 'Get the state of the sandbox host',
  description:
    'The sandbox host is the process that runs the sandboxes. Unless the state is `connected`, requests that need it wait briefly, then fail with 503 `host/unavailable`. Fails with 403 `auth/forbidden` for everyone except the owner.',
  tag: 'Sandboxes',
  auth: 'owner',
  response: SandboxHost,
})

export const replaceSandboxHost = defineRoute({
  operation: 'sandboxHostReplace',
  method: 'POST',
  path: '/v1/host/replace',
  summary: 'Replace a sandbox host of another version',
  description:
    'Stops all sandboxes of the present host and starts a host of this version. Files are preserved; programs and terminals end. Waits up to 60 seconds for the new host, then fails with 503 `host/unavailable`. Changes nothing if the service can use the present host.',
  tag: 'Sandboxes',
  auth: 'owner',
  refusals: [503],
  response: SandboxHost,
})
